// compile(): a scheduler's plans through the passes, each followed by its check.
#include "compiler/compiler.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/lower/layout.hpp"
#include "graph/layer_text.hpp"
#include "sw_models/npu_text.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::compiler {
namespace {

void check_input(const std::vector<Layer> &layers, const NpuConfig &npu) {
  if (layers.empty()) throw std::invalid_argument("compile(): no layers; give one or more");
  for (const Layer &layer : layers)
    if (layer.m == 0 || layer.k == 0 || layer.n == 0 || layer.groups == 0)
      throw CompileError(fmt::format("layer '{}': M, K, N and groups = {}, {}, {}, {}; none may be 0", layer.name,
                                     layer.m, layer.k, layer.n, layer.groups));
  if (npu.semaphores < semaphores_used(npu.cores))
    throw CompileError(fmt::format("layer '{}': streams use {} semaphores, NPU '{}' has {}; raise npu.semaphores",
                                   layers.front().name, semaphores_used(npu.cores), npu.name, npu.semaphores));
}

std::string text_of(const RowRange &rows) { return fmt::format("{}+{}", rows.first, rows.rows); }

/// What the stream of a layer depends on, and nothing else. Every field is named, so that a new one does not compile
/// until it is decided whether a stream depends on it.
std::string stream_key(const Layer &layer, Pass pass, const std::vector<PhasePlan> &plans, const NpuConfig &npu,
                       bool stream) {
  std::string key = fmt::format("{}|{}|{}|{}", shape_text(layer), to_string(pass), npu_text(npu), stream);
  for (const PhasePlan &plan : plans) {
    const auto &[kind, index, parts, tile, loops, split, starts_empty, reach, window, policy, products] = plan;
    const auto &[dim, count, cores, reduction] = parts;
    const auto &[shared, other, result] = split;
    const auto &[reload, conflict] = policy;
    key += fmt::format("|{} {}/{}/{}/{} {}x{}x{} {}{}{} {},{},{} {} {} {} {} {}", static_cast<int>(kind),
                       static_cast<int>(dim), count, cores, static_cast<int>(reduction), tile.m, tile.k, tile.n,
                       static_cast<int>(loops[0]), static_cast<int>(loops[1]), static_cast<int>(loops[2]),
                       text_of(shared), text_of(other), text_of(result), starts_empty, reach, window, reload, conflict);
  }
  return key;
}

/// The layer's stream, made once for all layers of its shape that are planned alike.
Compiled known_stream(const SchedulingProblem &p, const Scheduled &scheduled, CompileCache &cache) {
  const auto key = [&](bool stream) {
    return stream_key(p.layers.front(), p.options.pass, scheduled.plans, p.npu, stream);
  };
  if (!p.options.stream)
    if (const auto with_stream = cache.streams.find(key(true))) return *with_stream;
  return *cache.streams.get(key(p.options.stream), [&] {
    return compile_plan(p.layers, p.options.pass, p.layout,
                        time_plans(scheduled.plans, p.layers, p.layout, p.npu, scheduled.cycles), p.npu,
                        p.options.stream);
  });
}

Compiled finish(const SchedulingProblem &p, Scheduled &&scheduled, CompileCache &cache) {
  if (!scheduled.program && p.layers.size() == 1) return known_stream(p, scheduled, cache);
  const TimedPlan plan = scheduled.program
                             ? TimedPlan{std::move(scheduled.plans), std::move(*scheduled.program), scheduled.cycles}
                             : time_plans(std::move(scheduled.plans), p.layers, p.layout, p.npu, scheduled.cycles);
  return compile_plan(p.layers, p.options.pass, p.layout, plan, p.npu, p.options.stream);
}

} // namespace

Compiled compile(const Scheduler &scheduler, const std::vector<Layer> &layers, const NpuConfig &npu,
                 const CompileOptions &options, CompileCache &cache) {
  check_input(layers, npu);
  const Layout layout = make_layout(layers, options.pass, npu);
  const SchedulingProblem problem{layers, layout, npu, options, cache.plans};
  Scheduled scheduled = scheduler.schedule(problem);
  const Schedule chosen = scheduled.chosen;
  const Tuning tuning = scheduled.tuning;
  std::vector<std::string> tilings = std::move(scheduled.tilings);
  Compiled compiled = finish(problem, std::move(scheduled), cache);
  if (!options.stream) {
    compiled.stream.clear();
    compiled.info.clear();
  }
  compiled.layers = layers; // others of the shape bear other names
  compiled.requested = options.schedule;
  compiled.chosen = chosen;
  compiled.tuning = tuning;
  if (!tilings.empty()) compiled.tilings = std::move(tilings);
  return compiled;
}

Compiled compile(const std::vector<Layer> &layers, const NpuConfig &npu, const CompileOptions &options,
                 CompileCache &cache) {
  return compile(scheduler_of(options.schedule), layers, npu, options, cache);
}

Compiled compile(const std::vector<Layer> &layers, const NpuConfig &npu, const CompileOptions &options) {
  CompileCache cache;
  return compile(layers, npu, options, cache);
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
