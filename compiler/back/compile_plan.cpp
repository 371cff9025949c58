#include "compiler/back/compile_plan.hpp"
#include "compiler/ir/options.hpp"

#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/verify/verify.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

/// A failed check is a defect of the compiler, not of its input.
void require(const std::string &problem, const Layer &layer, std::string_view pass) {
  if (!problem.empty())
    throw CompilerDefect(fmt::format("layer '{}': defect in the compiler, found after {}: {}; please report it",
                                     layer.name, pass, problem));
}

} // namespace

CompiledLayer compile_plan(const Layer &layer, const NpuConfig &npu, const CompileOptions &options,
                           const Layout &layout, const TimedPlan &plan) {
  if (options.stream) {
    for (const PhasePlan &phase : plan.plans)
      require(verify_tiling(phase.tile, layer), layer, "tiling");
    require(verify_order(plan.program.products, layer, options.pass, plan.program.reductions.front()), layer,
            "ordering");
    require(verify_program(plan.program, layout, npu), layer, "residency");
  }
  check_room(layer, plan.program.room(), npu);

  CompiledLayer compiled;
  compiled.layer = layer;
  compiled.requested = options.schedule;
  compiled.chosen = resolve(options.schedule, layer);
  compiled.pass = options.pass;
  for (const PhasePlan &phase : plan.plans)
    if (phase.kind != PhaseKind::kForward && phase.parts.count > 1) {
      compiled.partition = options.partition;
      compiled.parts = phase.parts.count;
    }
  compiled.reductions = plan.program.reductions.front();
  compiled.tiling = describe(plan.plans);
  compiled.tensors = layout.tensors;
  compiled.dram_bytes = plan.program.dram_bytes;
  compiled.traffic = traffic_by_layer(plan.program, npu).front();
  for (const TileProduct &p : plan.program.products) {
    if (!p.add) compiled.useful_macs += static_cast<std::uint64_t>(p.m_size) * p.k_size * p.n_size;
    compiled.compute_cycles += product_cycles(p, npu);
  }
  compiled.predicted_cycles = plan.cycles;
  compiled.bounds = lower_bounds(layer, options.pass, layout, npu);
  if (options.stream) {
    EmittedStream stream = emit(plan.program, order_actions(plan.program, npu));
    compiled.stream = std::move(stream.commands);
    compiled.info = std::move(stream.info);
    require(verify_stream(compiled, npu), layer, "emission");
  }
  return compiled;
}

} // namespace gradweave::compiler
