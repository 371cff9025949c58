#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_room.hpp"

#include "base/process/peak_memory.hpp"
#include "compiler/cost/access_count.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/fused.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"

#include <fmt/format.h>

#include <optional>

namespace gradweave::compiler {
namespace {

/// A failed check is a defect of the compiler, not of its input.
void require(const std::string &problem, const std::vector<Layer> &layers, std::string_view pass) {
  if (problem.empty()) return;
  const std::string where = layers.size() == 1 ? fmt::format("layer '{}'", layers.front().name)
                                               : fmt::format("{} layers together", layers.size());
  throw CompilerDefect(
      fmt::format("{}: defect in the compiler, found after {}: {}; please report it", where, pass, problem));
}

std::string verify_tilings(const TimedPlan &plan, const std::vector<Layer> &layers) {
  for (const PhasePlan &phase : plan.plans)
    if (phase.section)
      continue;
    else if (std::string problem = verify_tiling(phase.tile, layers[phase.layer]); !problem.empty())
      return problem;
  return {};
}

std::string verify_orders(const Program &program, const std::vector<Layer> &layers, const Jobs &jobs) {
  const auto verify = [&](const std::vector<TileProduct> &products, std::size_t i) -> std::string {
    if (is_in_section(layers, i)) return {}; // whose pieces verify_program() follows
    const std::string problem =
        verify_order(products, layers[i], pass_of(layers[i], jobs.pass_of(i)), program.reductions[i]);
    return problem.empty() || layers.size() == 1 ? problem : fmt::format("layer '{}': {}", layers[i].name, problem);
  };
  if (layers.size() == 1) return verify(program.products, 0); // may be a million: not copied
  std::vector<std::vector<TileProduct>> by_layer(layers.size());
  for (const TileProduct &p : program.products)
    by_layer.at(p.layer).push_back(p);
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (std::string problem = verify(by_layer[i], i); !problem.empty()) return problem;
  return {};
}

/// Of a result.
std::uint64_t useful_macs(const Layer &l) { return std::uint64_t{l.m} * l.k * l.n * l.groups; }

/// How the backward pass is cut, and what the plans look like.
void describe_plans(const std::vector<PhasePlan> &plans, Compiled &compiled) {
  std::vector<std::vector<PhasePlan>> by_layer(compiled.layers.size());
  for (const PhasePlan &phase : plans) {
    by_layer[phase.layer].push_back(phase);
    if (form_of(phase.kind).forward() || phase.parts.count == 1) continue;
    compiled.partition = partition_along(phase.parts.dim);
    compiled.parts = phase.parts.count;
  }
  for (const std::vector<PhasePlan> &own : by_layer)
    compiled.tilings.push_back(describe(own));
}

/// See the public one. `tiles`: the NPU with the scratchpad that tiles may lie in.
TimedPlan time_plans(std::vector<PhasePlan> plans, const std::vector<Layer> &layers, const Layout &layout,
                     const Machine &npu, const Machine &tiles, std::uint64_t cycles) {
  for (PhasePlan &plan : plans)
    if (plan.products.empty()) plan.products = plan_products(plan, layers[plan.layer], npu);
  std::optional<Program> program = allocate_once(plans, layers, layout, tiles);
  if (!program)
    throw CompileError(fmt::format("a product of the plan does not fit the scratchpad of NPU '{}'; give it more "
                                   "spm_bytes",
                                   npu.name));
  check_room(layers, program->room(), npu);
  if (program->actions.size() >= kManyActions) give_back_memory();
  TimedPlan timed{std::move(plans), std::move(*program), cycles};
  if (cycles == 0) timed.cycles = program_cycles(timed.program, npu);
  return timed;
}

} // namespace

TimedPlan time_plans(std::vector<PhasePlan> plans, const std::vector<Layer> &layers, const Layout &layout,
                     const Machine &npu, std::uint64_t cycles) {
  return time_plans(std::move(plans), layers, layout, npu, npu, cycles);
}

Compiled compile_plan(const std::vector<Layer> &layers, const Jobs &jobs, const Layout &layout, TimedPlan plan,
                      const Machine &npu, bool stream) {
  if (stream) {
    require(verify_tilings(plan, layers), layers, "tiling");
    require(verify_orders(plan.program, layers, jobs), layers, "ordering");
    require(verify_program(plan.program, layout, npu), layers, "residency");
  }

  Compiled compiled;
  compiled.layers = layers;
  compiled.jobs = jobs;
  compiled.layout = layout;
  compiled.reductions = plan.program.reductions;
  describe_plans(plan.plans, compiled);
  compiled.dram_bytes = plan.program.dram_bytes;
  compiled.traffic = traffic_by_layer(plan.program, npu);
  for (const TileProduct &p : plan.program.products) {
    if (p.vector) {
      const VectorSection &section = section_of(plan.program, p);
      for (std::size_t i = 0; p.m == 0 && i < section.layers.size(); ++i)
        compiled.useful_macs += useful_macs(layers[section.layers[i]]);
      compiled.compute_cycles += section.piece(p).array_cycles;
      continue;
    }
    if (!p.add) compiled.useful_macs += static_cast<std::uint64_t>(p.m_size) * p.k_size * p.n_size;
    compiled.compute_cycles += product_cycles(p, layers[p.layer], npu);
  }
  compiled.predicted_cycles = plan.cycles;
  compiled.bounds = lower_bounds(layers, jobs, layout, npu);
  const std::vector<Handshake> handshakes = order_actions(plan.program, npu).take_handshakes();
  if (handshakes.size() >= kManyActions) give_back_memory();
  EmittedStream emitted = emit(plan.program, handshakes, npu);
  plan = {};
  compiled.accesses = count_accesses(emitted.commands, npu);
  if (!stream) return compiled;
  compiled.stream = std::move(emitted.commands);
  compiled.info = std::move(emitted.info);
  require(verify_stream(compiled, npu), layers, "emission");
  if (jobs.ranges().size() > 1) require(verify_jobs(compiled, npu), layers, "emission");
  return compiled;
}

Compiled compile_plans(const std::vector<Layer> &layers, Pass pass, const std::vector<PhasePlan> &plans,
                       const Machine &npu) {
  const Layout layout = make_layout(layers, pass, npu);
  const SharedMachine shared = share_step(layers, pass, npu);
  return compile_plan(layers, pass, layout, time_plans(plans, layers, layout, npu, shared.tiles, 0), npu);
}

} // namespace gradweave::compiler
