// Which products have epilogues, by the timing model.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/config/machine.hpp"
#include "train/npu/epilogues.hpp"
#include "train/product_plan.hpp"

#include <set>
#include <vector>

namespace gradweave::runtime::train {

/// All passes of a step, compiled; but those of item groups.
struct CompiledPasses {
  std::vector<compiler::Compiled> compiled;
  Epilogues epilogues;                       ///< of each pass
  std::vector<compiler::EpilogueRoom> rooms; ///< of each pass that has epilogues: what it was compiled without
  std::set<graph::TensorId> displaced;       ///< next values that were found not to take the places of those before
};

/// Gives a pass the epilogues with which a step takes the fewest cycles, by the timing model, each section alone: the
/// pass with them, and what is left of the operators that they stood with; or the pass in all of the scratchpad and
/// these operators. It looks at all first operators of what there may be (EpilogueFinder), at each part of the
/// scratchpad that may be left (without_epilogue_room()), and, for a pass of dX and dW, at the order `dw_major`, too,
/// whose tiles of dW are longer; and at where areas stand (EpilogueRoom). Where operators are left behind it looks at
/// dX before dW, too, as a next value may not go over what dX still reads. Of equal ones the first. Then it adds the
/// sums of the pass's operands, if that is faster. `apart`: as of order_step(). Throws compiler::CompileError.
CompiledPasses compile_passes(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                              const std::vector<compiler::ItemGroup> &groups, const Machine &npu,
                              const compiler::CompileOptions &options, const Keeps &keeps,
                              const std::set<graph::OpId> &apart = {});

} // namespace gradweave::runtime::train
