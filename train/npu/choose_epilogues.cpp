#include "train/npu/choose_epilogues.hpp"

#include "base/process/parallel.hpp"
#include "compiler/ahead/plans_ahead.hpp"
#include "compiler/cost/access_count.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/cut/values_through_memory.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "train/npu/plan/order/in_place.hpp"
#include "train/npu/plan/product_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::OpId;
using graph::TensorId;

/// How a pass may be compiled to leave room for epilogues.
struct Variant {
  std::size_t machine = 0; ///< which of those that there are
  compiler::Schedule schedule{};
  std::uint32_t ahead = 1; ///< EpilogueRoom's
  compiler::EpilogueRoom::Among among = compiler::EpilogueRoom::Among::kBefore;
};

/// What is chosen for a pass; none: `epilogues` is empty.
struct Choice {
  std::vector<PassEpilogue> epilogues;
  Variant variant;
  std::uint64_t cycles = 0;
};

/// Of passes that are alike: how many of each epilogue's operators are taken.
struct Known {
  std::vector<std::size_t> counts;
  Variant variant;
  bool sums = false; ///< whether those of operands are taken
};

class Choosing {
public:
  Choosing(const graph::Graph &graph, const ProductPlan &products, const Views &views,
           const std::vector<compiler::ItemGroup> &groups, const Machine &npu, const compiler::CompileOptions &options,
           const Keeps &keeps, const std::set<OpId> &apart)
      : graph_(graph), consumers_(graph.consumers()), products_(products), views_(views), npu_(npu), options_(options),
        keeps_(keeps), order_(order_step(graph, products, views, groups, {}, apart)),
        memory_(plan_memory({graph, order_, views})), finder_(graph, products, views, groups, apart),
        machines_(compiler::without_epilogue_room(npu)), caches_(machines_.size()), timed_(npu),
        is_operator_(graph.ops.size()) {
    for (const Station &station : order_.stations)
      for (const OpId op : station.ops)
        is_operator_[op] = true;
    timed_.memory.size_bytes = memory_.scratch * 4 + kStreamRoom; // of whole steps, whose memory may be used again
  }

  CompiledPasses run() {
    CompiledPasses all;
    std::vector<compiler::PlansAhead::Compilation> compilations;
    for (const ProductPass &pass : products_.passes)
      if (!is_of_group(pass)) compilations.push_back({{pass.layer}, npu_, options_of(pass, options_.schedule)});
    const compiler::PlansAhead ahead(compilations, cache_, usable_cores());
    for (std::size_t pass = 0; pass < products_.passes.size(); ++pass) {
      all.rooms.emplace_back();
      if (is_of_group(products_.passes[pass])) {
        all.compiled.emplace_back();
        all.epilogues.emplace_back();
        continue;
      }
      all.compiled.push_back(compile(pass, npu_, options_.schedule, cache_));
      Choice choice = choose(pass, all.compiled.back());
      finder_.take(pass, choice.epilogues);
      if (!choice.epilogues.empty()) {
        all.compiled.back() = compile(pass, choice.variant);
        all.rooms.back() = room(choice.variant);
      }
      all.epilogues.push_back(std::move(choice.epilogues));
    }
    all.displaced = displaced_;
    return all;
  }

private:
  static constexpr std::uint64_t kStreamRoom = std::uint64_t{1} << 30;
  static constexpr std::size_t kMostNeighbours = 128;
  /// Epilogues are tried at each length up to this, and at doubled ones and whole beyond it.
  static constexpr std::size_t kEachLength = 16;

  bool is_of_group(const ProductPass &pass) const {
    return order_.stations[order_.station_of[pass.when()]].group.has_value();
  }

  compiler::CompileOptions options_of(const ProductPass &pass, compiler::Schedule schedule) const {
    compiler::CompileOptions options = options_;
    options.pass = pass.pass;
    options.schedule = schedule;
    return options;
  }

  compiler::Compiled compile(std::size_t pass, const Machine &npu, compiler::Schedule schedule,
                             compiler::CompileCache &cache) const {
    const ProductPass &product = products_.passes[pass];
    return compiler::compile({product.layer}, npu, options_of(product, schedule), cache);
  }
  compiler::Compiled compile(std::size_t pass, const Variant &variant) {
    return compile(pass, machines_[variant.machine], variant.schedule, caches_[variant.machine]);
  }
  compiler::EpilogueRoom room(const Variant &variant) const {
    compiler::EpilogueRoom room =
        compiler::epilogue_room(npu_, machines_[variant.machine], compiler::semaphores_used(npu_.cores));
    room.ahead = variant.ahead;
    room.among = variant.among;
    return room;
  }

  std::vector<Variant> variants(const std::vector<compiler::Schedule> &schedules) const {
    using Among = compiler::EpilogueRoom::Among;
    std::vector<Variant> all;
    for (std::size_t machine = 0; machine < machines_.size(); ++machine)
      for (const compiler::Schedule schedule : schedules)
        for (const std::uint32_t ahead : {1U, static_cast<std::uint32_t>(compiler::kEpiloguePlaces - 1)})
          for (const Among among : {Among::kBefore, Among::kBehind, Among::kLast})
            all.push_back({machine, schedule, ahead, among});
    return all;
  }

  /// Passes of one shape with the same operators behind them are alike.
  Choice choose(std::size_t index, const compiler::Compiled &alone) {
    const std::vector<PassEpilogue> all = finder_.behind(index);
    if (all.empty()) return {};
    const std::string key = key_of(index, all, alone);
    if (const auto known = known_.find(key); known != known_.end()) return repeated(index, all, known->second);
    const std::vector<OpId> with = neighbours(ops_of(all));
    Choice best;
    best.cycles = cycles(place_product(products_.passes[index], alone, graph_, memory_).commands) + cycles_of(with);
    const bool both = products_.passes[index].pass == compiler::Pass::kBackward;
    std::vector<compiler::Schedule> schedules{options_.schedule};
    if (both) schedules.push_back(compiler::Schedule::kDwMajor);
    for (const Variant &variant : variants(schedules))
      try_variant(index, all, with, variant, best);
    if (both && ops_of(best.epilogues).size() < ops_of(all).size())
      for (const Variant &variant : variants({compiler::Schedule::kSequential}))
        try_variant(index, all, with, variant, best);
    std::vector<std::size_t> &counts = known_[key].counts;
    for (const PassEpilogue &epilogue : all)
      counts.push_back(count_of(best, epilogue.of));
    known_[key].variant = best.variant;
    known_[key].sums = add_sums(index, best);
    return best;
  }

  /// Adds all sums of operands, if that is faster.
  bool add_sums(std::size_t index, Choice &choice) {
    std::vector<PassEpilogue> with = choice.epilogues;
    const std::vector<PassEpilogue> sums = finder_.sums_of(index);
    if (with.empty() || sums.empty()) return false;
    with.insert(with.end(), sums.begin(), sums.end());
    const compiler::Compiled compiled = compile(index, choice.variant);
    const std::vector<isa::Command> commands = commands_with(index, compiled, with, choice.variant);
    if (commands.empty()) return false;
    const std::set<OpId> moved = ops_of(sums);
    const std::uint64_t before = cycles(commands_with(index, compiled, choice.epilogues, choice.variant)) +
                                 cycles_of({moved.begin(), moved.end()});
    if (cycles(commands) >= before) return false;
    choice.epilogues = std::move(with);
    return true;
  }

  static std::size_t count_of(const Choice &choice, TensorId result) {
    for (const PassEpilogue &epilogue : choice.epilogues)
      if (epilogue.of == result && !epilogue.is_sum) return epilogue.ops.size();
    return 0;
  }

  /// First operators of each epilogue, as many as are said.
  static std::vector<PassEpilogue> first_ops(const std::vector<PassEpilogue> &all,
                                             const std::vector<std::size_t> &counts) {
    std::vector<PassEpilogue> some;
    for (std::size_t e = 0; e < all.size(); ++e) {
      if (counts[e] == 0) continue;
      some.push_back(all[e]);
      some.back().ops.resize(counts[e]);
    }
    return some;
  }

  Choice repeated(std::size_t index, const std::vector<PassEpilogue> &all, const Known &known) {
    Choice choice{first_ops(all, known.counts), known.variant, 0};
    if (known.sums)
      for (PassEpilogue &sum : finder_.sums_of(index))
        choice.epilogues.push_back(std::move(sum));
    if (choice.epilogues.empty() ||
        commands_with(index, compile(index, known.variant), choice.epilogues, known.variant).empty())
      return {};
    return choice;
  }

  void try_variant(std::size_t index, const std::vector<PassEpilogue> &all, const std::vector<OpId> &with,
                   const Variant &variant, Choice &best) {
    compiler::Compiled compiled;
    try {
      compiled = compile(index, variant);
    } catch (const compiler::CompileError &) {
      return; // what is left of the scratchpad is too small
    }
    std::vector<std::size_t> counts(all.size());
    do {
      std::vector<PassEpilogue> some = first_ops(all, counts);
      if (some.empty()) continue;
      const std::vector<isa::Command> commands = commands_with(index, compiled, some, variant);
      if (commands.empty()) continue;
      const std::uint64_t left = cycles_of(left_of(with, some));
      if (left >= best.cycles) continue;
      const std::uint64_t sum = cycles(commands, best.cycles - left) + left;
      if (sum < best.cycles) best = {std::move(some), variant, sum};
    } while (next(counts, all));
  }

  /// The next counts of operators; false behind the last ones.
  static bool next(std::vector<std::size_t> &counts, const std::vector<PassEpilogue> &all) {
    for (std::size_t e = 0; e < counts.size(); ++e) {
      const std::size_t most = all[e].ops.size();
      if (counts[e] < most) {
        counts[e] = counts[e] < kEachLength ? counts[e] + 1 : std::min(2 * counts[e], most);
        return true;
      }
      counts[e] = 0;
    }
    return false;
  }

  std::vector<isa::Command> commands_with(std::size_t index, const compiler::Compiled &compiled,
                                          const std::vector<PassEpilogue> &epilogues, const Variant &variant) const {
    const ProductPass &pass = products_.passes[index];
    std::vector<EpilogueJobs> jobs;
    for (const PassEpilogue &epilogue : epilogues)
      jobs.push_back(epilogue_jobs(graph_, consumers_, pass, epilogue, views_, keeps_));
    try {
      return with_epilogues(place_product(pass, compiled, graph_, memory_).commands, compiled, jobs, memory_,
                            room(variant), npu_);
    } catch (const InPlaceConflict &) {
      return {};
    }
  }

  static std::set<OpId> ops_of(const std::vector<PassEpilogue> &epilogues) {
    std::set<OpId> ops;
    for (const PassEpilogue &epilogue : epilogues)
      ops.insert(epilogue.ops.begin(), epilogue.ops.end());
    return ops;
  }

  static std::vector<OpId> left_of(const std::vector<OpId> &with, const std::vector<PassEpilogue> &epilogues) {
    const std::set<OpId> moved = ops_of(epilogues);
    std::vector<OpId> left;
    std::copy_if(with.begin(), with.end(), std::back_inserter(left), [&](OpId op) { return moved.count(op) == 0; });
    return left;
  }

  /// All that cycles depend on, nearly.
  std::string key_of(std::size_t index, const std::vector<PassEpilogue> &all, const compiler::Compiled &alone) const {
    const compiler::Layer &layer = alone.layer();
    std::string key =
        fmt::format("{} {} {} {} {}", layer.m, layer.k, layer.n, alone.stream.size(), alone.predicted_cycles);
    const auto add = [&](OpId id) {
      const graph::Op &op = graph_.ops[id];
      key += fmt::format(" {}", op.type->name);
      for (const auto *tensors : {&op.inputs, &op.outputs})
        for (const TensorId t : *tensors)
          if (t != kNone)
            key += fmt::format(" {}:{}", graph_.tensors[t].shape.elements(), static_cast<int>(graph_.tensors[t].type));
    };
    for (const PassEpilogue &epilogue : all) {
      const EpilogueJobs jobs = epilogue_jobs(graph_, consumers_, products_.passes[index], epilogue, views_, keeps_);
      key += fmt::format(" | {}", jobs.inside.size());
      std::for_each(epilogue.ops.begin(), epilogue.ops.end(), add);
    }
    key += " |";
    const std::vector<OpId> with = neighbours(ops_of(all));
    std::for_each(with.begin(), with.end(), add);
    return key;
  }

  /// The operators of their stations that hand values on to them, or get values from them, and themselves: the nearest
  /// ones, as what is far away is the same whatever is chosen.
  std::vector<OpId> neighbours(std::set<OpId> found) const {
    std::deque<OpId> waiting(found.begin(), found.end());
    const std::size_t most = found.size() + kMostNeighbours;
    const auto add = [&](OpId op, OpId next_to) {
      if (found.size() < most && is_operator_[op] && order_.station_of[op] == order_.station_of[next_to] &&
          found.insert(op).second)
        waiting.push_back(op);
    };
    while (!waiting.empty()) {
      const OpId op = waiting.front();
      waiting.pop_front();
      for (const TensorId id : graph_.ops[op].inputs)
        if (id != kNone && graph_.tensors[id].computed()) add(graph_.tensors[id].producer, op);
      for (const TensorId id : graph_.ops[op].outputs)
        if (id != kNone)
          for (const OpId reader : consumers_[id])
            add(reader, op);
    }
    return {found.begin(), found.end()};
  }

  /// Of operators by themselves: each station's are a section.
  std::uint64_t cycles_of(const std::vector<OpId> &ops) {
    std::map<std::uint32_t, std::vector<OpId>> stations;
    for (const OpId op : ops)
      stations[order_.station_of[op]].push_back(op);
    std::uint64_t sum = 0;
    for (const auto &[station, of_station] : stations)
      sum += cycles_of_section(of_station);
    return sum;
  }

  std::uint64_t cycles_of_section(const std::vector<OpId> &ops) {
    if (const auto known = alone_.find(ops); known != alone_.end()) return known->second;
    compiler::OpJobs jobs =
        compiler::values_through_memory(compiler::lower_ops(graph_, consumers_, ops, {}, keeps_), npu_);
    std::vector<std::uint64_t> addresses;
    std::uint64_t scratch = memory_.scratch;
    for (const compiler::JobValue &value : jobs.values) {
      scratch = compiler::round_up(scratch, compiler::kTensorAlignment);
      addresses.push_back(value.tensor == kNone ? scratch : memory_.places[value.tensor].address);
      if (value.tensor == kNone) scratch += value.elements * graph::bytes_of(value.type);
    }
    try {
      fit_in_place(jobs, addresses, graph_.ops[ops.front()].name);
    } catch (const InPlaceConflict &conflict) {
      if (!displaced_.insert(conflict.written()).second) throw;
      memory_ = plan_memory({graph_, order_, views_, {}, false, displaced_});
      return cycles_of_section(ops);
    }
    return alone_[ops] = cycles(compiler::job_commands(jobs, addresses, npu_));
  }

  /// Of a section; `limit` as soon as it is clear that they are not less.
  std::uint64_t cycles(const std::vector<isa::Command> &commands, std::uint64_t limit = timing::kNever) const {
    timing::RunOptions options;
    const std::vector<std::uint64_t> latest(limit != timing::kNever ? commands.size() : 0, limit);
    if (limit != timing::kNever) {
      const std::uint64_t moving =
          compiler::count_accesses(commands, npu_).dram_bytes() * npu_.memory.bytes_den / npu_.memory.bytes_num;
      if (moving >= limit) return limit;
      options.most_idle_cycles = limit - moving;
      options.latest_start = latest.data();
    }
    const timing::RunResult result = timing::run(timed_, commands, options);
    if (result.given_up) return limit;
    if (!result.ok()) throw std::logic_error("a section of a step stops by itself");
    return result.counter(isa::Counter::CYCLES);
  }

  const graph::Graph &graph_;
  graph::Consumers consumers_;
  const ProductPlan &products_;
  const Views &views_;
  const Machine &npu_;
  const compiler::CompileOptions &options_;
  const Keeps &keeps_;
  StepOrder order_;              ///< without epilogues
  std::set<TensorId> displaced_; ///< next values that cannot take the places of those before
  StepMemory memory_;            ///< of all tensors
  EpilogueFinder finder_;
  std::vector<Machine> machines_; ///< with less of the scratchpad
  compiler::CompileCache cache_;
  std::deque<compiler::CompileCache> caches_; ///< of machines_
  std::map<std::string, Known> known_;
  std::map<std::vector<OpId>, std::uint64_t> alone_; ///< cycles of operators by themselves
  Machine timed_;
  std::vector<bool> is_operator_; ///< of each op: its station has it among its operators
};

} // namespace

CompiledPasses compile_passes(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                              const std::vector<compiler::ItemGroup> &groups, const Machine &npu,
                              const compiler::CompileOptions &options, const Keeps &keeps,
                              const std::set<OpId> &apart) {
  return Choosing(graph, products, views, groups, npu, options, keeps, apart).run();
}

} // namespace gradweave::runtime::train
