// From products in order to DMA moves and places: what is loaded, kept, spilled and stored under a policy.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/paper/areas.hpp"
#include "compiler/paper/tile_numbers.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler::paper {

/// What the DMA moves for a partial sum that does not stay.
enum class SpillCost {
  kFp32, ///< the sum: the only executable choice
  kBf16, ///< half of it, as if sums had operands' precision
  kFree, ///< nothing
};

/// Assumptions under which there is no executable stream, only cycles and traffic.
struct Idealisation {
  bool dy_once = false; ///< products of dW get dY without a load
  SpillCost spill = SpillCost::kFp32;
  bool none() const { return !dy_once && spill == SpillCost::kFp32; }
};

/// A part of a pass that begins with an empty scratchpad: forward, or the whole backward pass of a layer.
struct Stage {
  Step step;
  TileShape tile;
  std::vector<TileProduct> products;
  Idealisation ideal;
};

/// Appends the stage to the program, whose layer (one) and reduction plans must be set and whose dram_bytes must cover
/// the layout.
void plan_stage(const Stage &stage, const Layout &layout, const Policy &policy, const NpuConfig &npu, Program &program);

} // namespace gradweave::compiler::paper
