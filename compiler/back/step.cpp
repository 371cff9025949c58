#include "compiler/back/step.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/emit/emit.hpp"
#include "compiler/emit/hazards.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {
namespace {

void require(const std::string &problem, std::string_view pass) {
  if (!problem.empty())
    throw CompilerDefect(
        fmt::format("defect in the compiler, found after {} of a step: {}; please report it", pass, problem));
}

std::string verify_orders(const std::vector<TileProduct> &products, const CompiledStep &step) {
  std::vector<std::vector<TileProduct>> by_layer(step.layers.size());
  for (const TileProduct &p : products)
    by_layer.at(p.layer).push_back(p);
  for (std::size_t i = 0; i < step.layers.size(); ++i)
    if (const std::string problem = verify_order(by_layer[i], step.layers[i], step.pass, step.reductions[i]);
        !problem.empty())
      return fmt::format("layer '{}': {}", step.layers[i].name, problem);
  return {};
}

} // namespace

CompiledStep compile_step_plan(const std::vector<Layer> &layers, const std::vector<PhasePlan> &plans, Pass pass,
                               const NpuConfig &npu) {
  CompiledStep step;
  step.layers = layers;
  step.pass = pass;
  step.layout = make_layout(layers, pass, npu);
  const std::optional<Program> program = allocate(plans, layers, step.layout, npu);
  if (!program)
    throw CompileError(fmt::format("a product of the plan does not fit the scratchpad of NPU '{}'; give it more "
                                   "spm_bytes",
                                   npu.name));
  if (const Room room = program->room(); room.bytes() > npu.dram.size_bytes)
    throw CompileError(fmt::format("the layers need {} bytes of device memory together, {} commands included, NPU '{}' "
                                   "has {}; raise dram.size_bytes or pick fewer layers",
                                   room.bytes(), room.commands, npu.name, npu.dram.size_bytes));
  step.reductions = program->reductions;
  require(verify_orders(program->products, step), "ordering");
  require(verify_program(*program, step.layout, npu), "residency");

  step.dram_bytes = program->dram_bytes;
  EmittedStream stream = emit(*program, order_actions(*program, npu));
  step.stream = std::move(stream.commands);
  step.info = std::move(stream.info);
  step.traffic = traffic_by_layer(*program, npu);
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    std::vector<PhasePlan> own;
    for (const PhasePlan &p : plans)
      if (p.layer == i) own.push_back(p);
    step.tilings.push_back(describe(own));
  }
  for (const TileProduct &p : program->products) {
    if (!p.add) step.useful_macs += static_cast<std::uint64_t>(p.m_size) * p.k_size * p.n_size;
    step.compute_cycles += product_cycles(p, npu);
  }
  step.predicted_cycles = timing::run(npu, step.stream).cycles();
  step.bounds = lower_bounds(layers, pass, step.layout, npu);
  require(verify_stream({step.layers, step.layout, step.reductions, step.pass, step.dram_bytes, step.stream, step.info,
                         step.traffic},
                        npu),
          "emission");
  return step;
}

} // namespace gradweave::compiler
