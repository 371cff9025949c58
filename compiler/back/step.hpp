// Several layers, or a whole training step, compiled into one stream: what one layer leaves in the scratchpad serves
// the next, and loads run ahead over the borders of layers.
#pragma once

#include "compiler/ir/error.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "sw_models/npu_config.hpp"

namespace gradweave::compiler {

struct CompiledStep {
  std::vector<Layer> layers;
  Pass pass = Pass::kBoth;
  Layout layout;
  std::vector<ReductionPlans> reductions;                 ///< of each layer: what golden results have to replay
  std::vector<std::array<Traffic, kTensorCount>> traffic; ///< of each layer
  std::vector<std::string> tilings;                       ///< of each layer, for people
  std::uint64_t dram_bytes = 0;     ///< device memory needed from the base address, spill space included
  std::vector<isa::Command> stream; ///< DRAM addresses relative to base address 0
  std::vector<CommandInfo> info;
  std::uint64_t useful_macs = 0;
  std::uint64_t compute_cycles = 0;   ///< block formula
  std::uint64_t predicted_cycles = 0; ///< by the timing model: those of the RTL, if the bus does not push back
  Bounds bounds;                      ///< each tensor that memory must hold before or after moved once
};

/// Places, encodes and verifies a plan: all phases of all layers in the order in which they are to run, products
/// included. Throws CompileError if it does not fit the scratchpad or the device's memory, CompilerDefect if a check
/// fails.
CompiledStep compile_step_plan(const std::vector<Layer> &layers, const std::vector<PhasePlan> &plans, Pass pass,
                               const NpuConfig &npu);

} // namespace gradweave::compiler
