// Which products have epilogues, by the timing model.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/config/machine.hpp"
#include "train/npu/epilogues.hpp"
#include "train/product_plan.hpp"

#include <optional>
#include <vector>

namespace gradweave::runtime::train {

/// All passes of a step, compiled; those with epilogues for the scratchpad that is left (without_epilogue_room()).
struct CompiledPasses {
  std::vector<compiler::Compiled> compiled;
  Epilogues epilogues; ///< of each pass
};

/// Gives a pass its epilogues (find_epilogues()) if that takes fewer cycles, by the timing model, each section alone:
/// the pass with them, and what is left of the operators that they stood with, against the pass in all of the scratchpad
/// and these operators. Throws compiler::CompileError.
CompiledPasses compile_passes(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                              const Machine &npu, const compiler::CompileOptions &options, const Keeps &keeps);

} // namespace gradweave::runtime::train
