// compile_layer(): the passes in sequence, each followed by its check.
#include "compiler/compiler.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/schedule/refine.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/npu_fingerprint.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace gradweave::compiler {
namespace {

using Progress = decltype(CompileOptions::progress);

void check_input(const Layer &layer, const NpuConfig &npu) {
  if (layer.m == 0 || layer.k == 0 || layer.n == 0)
    throw CompileError(
        fmt::format("layer '{}': M, K, N = {}, {}, {}; none may be 0", layer.name, layer.m, layer.k, layer.n));
  if (npu.semaphores < semaphores_used(npu.cores))
    throw CompileError(fmt::format("layer '{}': streams use {} semaphores, NPU '{}' has {}; raise npu.semaphores",
                                   layer.name, semaphores_used(npu.cores), npu.name, npu.semaphores));
}

/// Parts asked for; 0: as many as there are cores, or two.
Cut cut_of(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  if (options.partition == Partition::kNone || options.pass == Pass::kForward) {
    if (options.parts > 1 && options.partition == Partition::kNone)
      throw CompileError(fmt::format("layer '{}': {} parts, but no partition; choose weight_sharing, dy_sharing or "
                                     "ifmap_sharing",
                                     layer.name, options.parts));
  } else {
    const Dim dim = cut_dim(options.partition);
    const std::string_view name = dim == Dim::kM ? "M" : dim == Dim::kN ? "N" : "K";
    const std::uint32_t most = cuttable(dim, layer);
    if (options.parts > most)
      throw CompileError(fmt::format("layer '{}': {} cannot cut {} = {} into {} parts; reduce the parts to at most {}",
                                     layer.name, to_string(options.partition), layer.groups > 1 ? "groups" : name, most,
                                     options.parts, most));
  }
  Cut cut;
  cut.partition = options.partition;
  cut.parts = options.parts != 0 ? options.parts : npu.cores > 1 ? npu.cores : 2;
  cut.reduction = options.reduction;
  return cut;
}

/// Continues the search with `plans` more, whatever they take.
Tuning tune(Refinement &refinement, std::uint64_t plans, const RefineProgress &progress) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  const Tuning before = refinement.effort();
  Tuning tuning;
  const auto start = std::chrono::steady_clock::now();
  refinement.run(plans, kNoLimit, progress);
  tuning.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tuning.candidates = refinement.effort().candidates - before.candidates;
  tuning.simulated = refinement.effort().simulated - before.simulated;
  tuning.improvements = refinement.effort().improvements - before.improvements;
  return tuning;
}

/// Streams compiled in this process. Networks repeat their layers: a shape is compiled once.
class StreamCache {
public:
  /// The layer's fastest stream under a resolved schedule; other layers of the shape share it.
  const CompiledLayer &get(const Layer &layer, const NpuConfig &npu, const CompileOptions &options);

private:
  /// What a stream depends on, and nothing else. Schedules with the same phases have the same streams.
  static std::string key(const Layer &layer, const NpuConfig &npu, const CompileOptions &options, std::uint64_t tune);

  std::mutex mutex_;
  std::map<std::string, CompiledLayer> streams_;
};

// Every field is named, so that a new one does not compile until it is decided whether a stream depends on it.
std::string StreamCache::key(const Layer &layer, const NpuConfig &npu, const CompileOptions &options,
                             std::uint64_t tune) {
  const auto &[schedule, pass, tuned, progress, partition, parts, reduction, plans, stream] = options;
  const Cut cut = cut_of(layer, npu, options);
  std::string kinds;
  for (const PhaseKind kind : phases(schedule, pass, layer))
    kinds += fmt::format("{} ", static_cast<int>(kind));
  return fmt::format("{}|{}{}/{},{}|{} plans,tune {},{}|{}", shape_fingerprint(layer).hex(), kinds,
                     to_string(cut.partition), cut.partition == Partition::kNone ? 1 : cut.parts,
                     to_string(cut.reduction), plans, tune, stream, fingerprint(npu).hex());
}

const CompiledLayer &StreamCache::get(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  const std::string wanted = key(layer, npu, options, options.tune);
  const std::lock_guard<std::mutex> lock(mutex_);
  CompileOptions with_stream = options;
  with_stream.stream = true;
  for (const std::string &good : {wanted, key(layer, npu, with_stream, options.tune)})
    if (const auto it = streams_.find(good); it != streams_.end()) return it->second;
  const Layout layout = make_layout(layer, options.pass, npu);
  check_room(layer, {layout.bytes, 0}, npu);
  const Cut cut = cut_of(layer, npu, options);
  const Layer sample = sample_of(layer, npu, cut.partition == Partition::kNone ? 1 : cut.parts);
  const Layout sample_layout = make_layout(sample, options.pass, npu);
  const std::uint64_t all = options.plans + options.tune;
  std::function<void()> tried;
  if (options.progress) tried = [&] { options.progress(0, all); };
  std::vector<std::vector<PhasePlan>> first =
      search(sample, options.schedule, options.pass, cut, sample_layout, npu, effort_of(options.plans), tried, &layer);
  // Where few changes are asked for, few plans to change are enough.
  first.resize(std::min(first.size(), std::max<std::size_t>(options.plans, 1)));
  Refinement refinement(first, sample, sample_layout, npu, tried);
  if (refinement.kept().empty()) check_room(layer, refinement.least_room(), npu);
  const auto best = [&] { return fastest_for(layer, sample, refinement.kept(), layout, npu); };
  const auto report = [&](std::uint64_t before) -> RefineProgress {
    if (!options.progress) return {};
    return [&options, before, all](std::uint64_t done) { options.progress(before + done, all); };
  };
  refinement.run(options.plans, work_of(options.plans), report(0));
  const std::string usual = key(layer, npu, options, 0);
  if (streams_.count(usual) == 0) streams_.emplace(usual, compile_plan(layer, npu, options, layout, best()));
  if (options.tune != 0) {
    const CompiledLayer &before = streams_.at(usual);
    const Tuning tuning = tune(refinement, options.tune, report(options.plans));
    CompiledLayer compiled = compile_plan(layer, npu, options, layout, best());
    if (before.predicted_cycles < compiled.predicted_cycles) compiled = before; // faster on the sample only
    compiled.tuning = tuning;
    compiled.tuning.cycles_before = before.predicted_cycles;
    streams_.emplace(wanted, std::move(compiled));
  }
  return streams_.at(wanted);
}

/// What the order of a backward pass is chosen for: a part of the layer.
Layer backward_part(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  return part_of(layer, phase_parts(cut_of(layer, npu, options), PhaseKind::kDw, layer, npu), npu);
}

/// The orders that the schedule asked for chooses among, the choice of `rearrange` first.
std::vector<CompileOptions> orders(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  CompileOptions base = options;
  base.progress = nullptr;
  const bool search = options.schedule == Schedule::kSearch;
  if (search && npu.cores > 1 && options.partition == Partition::kNone) {
    base.partition = Partition::kWeightSharing; // or all cores but one would be idle
    base.reduction = Reduction::kAdd;
  }
  const Layer part = backward_part(layer, npu, base);
  std::vector<Schedule> schedules{
      resolve(search || options.schedule == Schedule::kIdeal ? Schedule::kRearrange : options.schedule, part)};
  if ((search || options.schedule == Schedule::kIdeal) && computes_dx(layer, options.pass)) { // else all are the same
    for (const Schedule s : {Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor})
      if (s != schedules.front()) schedules.push_back(s);
    if (search) schedules.push_back(Schedule::kSequential);
  }
  std::vector<CompileOptions> tried;
  for (const Schedule s : schedules) {
    tried.push_back(base);
    tried.back().schedule = s;
  }
  return tried;
}

/// The partitions that `search` tries with the best order; none if one was asked for.
std::vector<CompileOptions> partitions(const NpuConfig &npu, const CompileOptions &asked, const CompileOptions &best) {
  std::vector<CompileOptions> tried;
  if (asked.schedule != Schedule::kSearch || asked.partition != Partition::kNone || asked.pass == Pass::kForward)
    return tried;
  for (const Partition p : all_partitions())
    for (const Reduction r : {Reduction::kChain, Reduction::kAdd}) {
      if (p == Partition::kNone || (npu.cores == 1 && r == Reduction::kAdd)) continue;
      CompileOptions one = best;
      one.partition = p;
      one.reduction = r;
      if (p != best.partition || r != best.reduction) tried.push_back(one);
    }
  return tried;
}

} // namespace

CompiledLayer compile_layer(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  static StreamCache cache;
  check_input(layer, npu);
  const CompiledLayer *best = nullptr;
  CompileOptions chosen;
  Tuning tuning;
  const auto consider = [&](const CompileOptions &one) {
    const CompiledLayer &compiled = cache.get(layer, npu, one);
    if (best == nullptr || compiled.predicted_cycles < best->predicted_cycles) {
      best = &compiled;
      chosen = one;
      chosen.progress = nullptr;
    }
    return compiled.tuning;
  };

  std::vector<CompileOptions> tried = orders(layer, npu, options);
  const std::size_t first = tried.size();
  const std::size_t all = first + partitions(npu, options, tried.front()).size();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    CompileOptions one = tried[i];
    if (options.progress)
      one.progress = [&](std::uint64_t done, std::uint64_t of) { options.progress(i * of + done, all * of); };
    const Tuning t = consider(one);
    tuning.cycles_before = i == 0 ? t.cycles_before : std::min(tuning.cycles_before, t.cycles_before);
    tuning.candidates += t.candidates;
    tuning.simulated += t.simulated;
    tuning.improvements += t.improvements;
    tuning.seconds += t.seconds;
    if (i + 1 == first)
      for (CompileOptions &more : partitions(npu, options, chosen))
        tried.push_back(std::move(more));
  }
  if (options.tune != 0) {
    CompileOptions usual = options;
    usual.schedule = resolve(Schedule::kRearrange, backward_part(layer, npu, options));
    usual.tune = 0;
    usual.progress = nullptr;
    consider(usual);
  }

  CompiledLayer compiled = *best;
  if (!options.stream) {
    compiled.stream.clear();
    compiled.info.clear();
  }
  compiled.layer = layer;
  compiled.requested = options.schedule;
  compiled.chosen = chosen.schedule;
  compiled.partition = compiled.parts > 1 ? chosen.partition : Partition::kNone;
  compiled.tuning = tuning;
  return compiled;
}

std::vector<isa::Command> relocate(const std::vector<isa::Command> &stream, std::uint64_t base) {
  std::vector<isa::Command> result = stream;
  for (isa::Command &command : result) {
    const std::uint32_t opcode = command.get(isa::field::OPCODE);
    if (opcode != static_cast<std::uint32_t>(isa::Opcode::LOAD) &&
        opcode != static_cast<std::uint32_t>(isa::Opcode::STORE))
      continue;
    const std::uint64_t address = base + command.get(isa::field::DRAM_ADDR_LO) +
                                  (static_cast<std::uint64_t>(command.get(isa::field::DRAM_ADDR_HI)) << 32);
    command.set(isa::field::DRAM_ADDR_LO, static_cast<std::uint32_t>(address));
    command.set(isa::field::DRAM_ADDR_HI, static_cast<std::uint32_t>(address >> 32));
  }
  return result;
}

} // namespace gradweave::compiler
