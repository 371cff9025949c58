#include "train/npu/choose_epilogues.hpp"

#include "compiler/emit/hazards.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "train/npu/plan/in_place.hpp"
#include "train/npu/plan/product_section.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::OpId;
using graph::TensorId;

class Choosing {
public:
  Choosing(const graph::Graph &graph, const ProductPlan &products, const Views &views, const Machine &npu,
           const compiler::CompileOptions &options, const Keeps &keeps)
      : graph_(graph), products_(products), views_(views), npu_(npu), options_(options), keeps_(keeps),
        order_(order_step(graph, products, views)), memory_(plan_memory({graph, order_, views})),
        without_(compiler::without_epilogue_room(npu)), timed_(npu) {
    timed_.memory.size_bytes = memory_.scratch * 4 + kStreamRoom; // of whole steps, whose memory may be used again
  }

  CompiledPasses run() {
    CompiledPasses all;
    all.epilogues = find_epilogues(graph_, products_, views_);
    for (std::size_t pass = 0; pass < products_.passes.size(); ++pass) {
      all.compiled.push_back(compile(pass, npu_, cache_));
      std::vector<PassEpilogue> &epilogues = all.epilogues[pass];
      if (epilogues.empty()) continue;
      std::optional<compiler::Compiled> fused = pays(pass, epilogues, all.compiled.back());
      if (fused)
        all.compiled.back() = std::move(*fused);
      else
        epilogues.clear();
    }
    return all;
  }

private:
  static constexpr std::uint64_t kStreamRoom = std::uint64_t{1} << 30;

  compiler::Compiled compile(std::size_t pass, const Machine &npu, compiler::CompileCache &cache) const {
    compiler::CompileOptions options = options_;
    options.pass = products_.passes[pass].pass;
    return compiler::compile({products_.passes[pass].layer}, npu, options, cache);
  }

  /// The pass, compiled for the scratchpad that its epilogues leave, if with them it is faster.
  std::optional<compiler::Compiled> pays(std::size_t index, const std::vector<PassEpilogue> &epilogues,
                                         const compiler::Compiled &alone) {
    if (!without_) return std::nullopt;
    const ProductPass &pass = products_.passes[index];
    compiler::Compiled fused;
    try {
      fused = compile(index, *without_, less_cache_);
    } catch (const compiler::CompileError &) {
      return std::nullopt; // what is left of the scratchpad is too small
    }
    std::vector<EpilogueJobs> jobs;
    for (const PassEpilogue &epilogue : epilogues)
      jobs.push_back(epilogue_jobs(graph_, pass, epilogue, views_, keeps_));
    const std::uint32_t semaphores = compiler::semaphores_used(npu_.cores);
    const std::vector<isa::Command> commands =
        with_epilogues(place_product(pass, fused, graph_, memory_).commands, fused, jobs, memory_,
                       compiler::epilogue_room(npu_, *without_, semaphores), npu_);
    if (commands.empty()) return std::nullopt;
    std::set<OpId> moved;
    for (const PassEpilogue &epilogue : epilogues)
      moved.insert(epilogue.ops.begin(), epilogue.ops.end());
    const std::vector<OpId> with = neighbours(moved);
    std::vector<OpId> left;
    std::copy_if(with.begin(), with.end(), std::back_inserter(left), [&](OpId op) { return moved.count(op) == 0; });
    const std::uint64_t before = cycles(place_product(pass, alone, graph_, memory_).commands) + cycles_of(with);
    if (cycles(commands) + cycles_of(left) >= before) return std::nullopt;
    return fused;
  }

  /// The operators of their stations that hand values on to them, or get values from them, however far, and themselves.
  std::vector<OpId> neighbours(std::set<OpId> found) const {
    std::set<std::uint32_t> stations;
    for (const OpId op : found)
      stations.insert(order_.station_of[op]);
    for (const std::uint32_t station : stations)
      for (bool more = true; more;) {
        more = false;
        for (const OpId op : order_.stations[station].ops)
          if (found.count(op) == 0 && has_to_do_with(op, found, station)) more = found.insert(op).second;
      }
    return {found.begin(), found.end()};
  }

  /// Whether a value goes from one to the other within the station.
  bool has_to_do_with(OpId op, const std::set<OpId> &found, std::uint32_t station) const {
    const auto reads_of = [&](OpId reader, OpId writer) {
      return order_.station_of[writer] == station &&
             std::any_of(graph_.ops[reader].inputs.begin(), graph_.ops[reader].inputs.end(), [&](TensorId id) {
               return id != kNone && graph_.tensors[id].computed() && graph_.tensors[id].producer == writer;
             });
    };
    return std::any_of(found.begin(), found.end(),
                       [&](OpId other) { return reads_of(op, other) || reads_of(other, op); });
  }

  /// Of operators by themselves.
  std::uint64_t cycles_of(const std::vector<OpId> &ops) const {
    if (ops.empty()) return 0;
    compiler::OpJobs jobs = compiler::lower_ops(graph_, ops, {}, keeps_);
    std::vector<std::uint64_t> addresses;
    std::uint64_t scratch = memory_.scratch;
    for (const compiler::JobValue &value : jobs.values) {
      scratch = compiler::round_up(scratch, compiler::kTensorAlignment);
      addresses.push_back(value.tensor == kNone ? scratch : memory_.places[value.tensor].address);
      if (value.tensor == kNone) scratch += value.elements * graph::bytes_of(value.type);
    }
    fit_in_place(jobs, addresses, graph_.ops[ops.front()].name);
    return cycles(compiler::job_commands(jobs, addresses, npu_));
  }

  std::uint64_t cycles(const std::vector<isa::Command> &commands) const {
    const timing::RunResult result = timing::run(timed_, commands);
    if (!result.ok()) throw std::logic_error("a section of a step stops by itself");
    return result.counter(isa::Counter::CYCLES);
  }

  const graph::Graph &graph_;
  const ProductPlan &products_;
  const Views &views_;
  const Machine &npu_;
  const compiler::CompileOptions &options_;
  const Keeps &keeps_;
  StepOrder order_;   ///< without epilogues
  StepMemory memory_; ///< of all tensors
  std::optional<Machine> without_;
  Machine timed_;
  compiler::CompileCache cache_, less_cache_;
};

} // namespace

CompiledPasses compile_passes(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                              const Machine &npu, const compiler::CompileOptions &options, const Keeps &keeps) {
  return Choosing(graph, products, views, npu, options, keeps).run();
}

} // namespace gradweave::runtime::train
