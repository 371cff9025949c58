// compile(): a scheduler's plans through the passes, each followed by its check.
#include "compiler/compiler.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_layer.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/lower/layout.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::compiler {
namespace {

void check_input(const std::vector<Layer> &layers, const Machine &npu) {
  if (layers.empty()) throw std::invalid_argument("compile(): no layers; give one or more");
  if (layers.size() > 1 && std::any_of(layers.begin(), layers.end(), [](const Layer &l) { return l.vector; }))
    throw std::invalid_argument(
        "compile(): a layer of the vector unit among others; search_step() and weave() take it");
  for (const Layer &layer : layers)
    if (layer.m == 0 || layer.k == 0 || layer.n == 0 || layer.groups == 0)
      throw CompileError(fmt::format("layer '{}': M, K, N and groups = {}, {}, {}, {}; none may be 0", layer.name,
                                     layer.m, layer.k, layer.n, layer.groups));
  if (npu.semaphores < semaphores_used(npu.cores))
    throw CompileError(fmt::format("layer '{}': streams use {} semaphores, NPU '{}' has {}; raise npu.semaphores",
                                   layers.front().name, semaphores_used(npu.cores), npu.name, npu.semaphores));
}

Fingerprint fingerprint(const RowRange &range) {
  const auto &[first, rows] = range;
  return Fingerprint().add(first, rows);
}

Fingerprint fingerprint(const PhasePlan &plan) {
  const auto &[kind, index, parts, tile, loops, split, woven, joined, takes_parts, starts_empty, reach, window, policy,
               products, section] = plan;
  const auto &[dim, count, cores, reduction, sharing] = parts;
  const auto &[m, k, n] = tile;
  const auto &[shared, other, result] = split;
  const auto &[reload, conflict] = policy;
  return Fingerprint().add(kind, dim, count, cores, reduction, sharing, m, k, n, loops[0], loops[1], loops[2],
                           fingerprint(shared), fingerprint(other), fingerprint(result), woven, joined, takes_parts,
                           starts_empty, reach, window, reload, conflict);
}

/// What the stream of a layer depends on, and nothing else.
std::string stream_key(const Layer &layer, Pass pass, const std::vector<PhasePlan> &plans, const Machine &npu,
                       bool stream) {
  Fingerprint key;
  key.add(shape_fingerprint(layer), pass, gradweave::fingerprint(npu), stream, plans.size());
  for (const PhasePlan &plan : plans)
    key.add(fingerprint(plan));
  return key.hex();
}

/// A layer's stream, made once for all layers of its shape that are planned alike.
Compiled known_stream(const Layer &layer, const Machine &npu, const CompileOptions &options,
                      const std::vector<PhasePlan> &plans, CompileCache &cache,
                      const std::function<Compiled()> &compile) {
  const auto key = [&](bool stream) { return stream_key(layer, options.pass, plans, npu, stream); };
  const auto make = [&] {
    Compiled compiled = compile();
    std::vector<isa::Command> stream = std::move(compiled.stream);
    std::vector<CommandInfo> info = std::move(compiled.info);
    return CompileCache::KnownStream{std::move(compiled), std::move(stream), std::move(info)};
  };
  Memo<CompileCache::KnownStream>::Pointer known;
  if (!options.stream) known = cache.streams.find(key(true));
  if (!known) known = cache.streams.get(key(options.stream), make);
  Compiled compiled = known->compiled;
  if (options.stream) {
    compiled.stream = known->stream;
    compiled.info = known->info;
  }
  return compiled;
}

/// A layer that the vector unit computes: all schedules have the same stream. `cache`: as of finish().
Compiled compile_on_unit(const Layer &layer, const Machine &npu, const CompileOptions &options, CompileCache *cache) {
  const auto compile = [&] { return compile_vector_layer(layer, options.pass, npu); };
  Compiled compiled = cache != nullptr ? known_stream(layer, npu, options, {}, *cache, compile) : compile();
  compiled.chosen = options.schedule;
  return compiled;
}

/// `cache`: null if streams are not to be kept.
Compiled finish(const SchedulingProblem &p, Scheduled &&scheduled, CompileCache *cache) {
  if (cache != nullptr && !scheduled.program && p.layers.size() == 1)
    return known_stream(p.layers.front(), p.npu, p.options, scheduled.plans, *cache, [&] {
      return compile_plan(p.layers, p.options.pass, p.layout,
                          time_plans(scheduled.plans, p.layers, p.layout, p.npu, scheduled.cycles), p.npu,
                          p.options.stream);
    });
  TimedPlan plan = scheduled.program
                       ? TimedPlan{std::move(scheduled.plans), std::move(*scheduled.program), scheduled.cycles}
                       : time_plans(std::move(scheduled.plans), p.layers, p.layout, p.npu, scheduled.cycles);
  return compile_plan(p.layers, p.options.pass, p.layout, std::move(plan), p.npu, p.options.stream);
}

Compiled compile_with(const Scheduler &scheduler, const std::vector<Layer> &layers, const Machine &npu,
                      const CompileOptions &options, KnownPlans &plans, CompileCache *cache) {
  check_input(layers, npu);
  if (layers.size() == 1 && layers.front().vector) {
    Compiled compiled = compile_on_unit(layers.front(), npu, options, cache);
    compiled.layers = layers;
    compiled.requested = options.schedule;
    return compiled;
  }
  const Layout layout = make_layout(layers, options.pass, npu);
  const SchedulingProblem problem{layers, layout, npu, options, plans};
  Scheduled scheduled = scheduler.schedule(problem);
  const Schedule chosen = scheduled.chosen;
  const Tuning tuning = scheduled.tuning;
  std::vector<std::string> tilings = std::move(scheduled.tilings);
  Compiled compiled = finish(problem, std::move(scheduled), cache);
  compiled.layers = layers; // others of the shape bear other names
  compiled.requested = options.schedule;
  compiled.chosen = chosen;
  compiled.tuning = tuning;
  if (!tilings.empty()) compiled.tilings = std::move(tilings);
  return compiled;
}

} // namespace

Compiled compile(const Scheduler &scheduler, const std::vector<Layer> &layers, const Machine &npu,
                 const CompileOptions &options, CompileCache &cache) {
  return compile_with(scheduler, layers, npu, options, cache.plans, &cache);
}

Compiled compile(const std::vector<Layer> &layers, const Machine &npu, const CompileOptions &options,
                 CompileCache &cache) {
  return compile(scheduler_of(options.schedule), layers, npu, options, cache);
}

Compiled compile(const std::vector<Layer> &layers, const Machine &npu, const CompileOptions &options) {
  KnownPlans plans;
  return compile_with(scheduler_of(options.schedule), layers, npu, options, plans, nullptr);
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
