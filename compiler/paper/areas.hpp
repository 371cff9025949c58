// Tile sides under a policy, and the scratchpad as slots of one size each for operands, partial sums and results.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/paper/policy.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler::paper {

/// What one step of a pass computes: a product, or in the fused schedules a dX and a dW product.
struct Step {
  bool y = false, dx = false, dw = false;
  bool fused = false; ///< dX and dW in turn; else one phase after the other
  bool adds = false;  ///< sums of parts are added
  std::uint32_t cores = 1;

  /// Distinct operand tiles that a step reads at most, on all cores.
  std::uint32_t operands() const { return cores * (fused ? 4 : 2); }
  /// Sums that a step works on, on all cores.
  std::uint32_t sums() const { return cores * (fused || adds ? 2 : 1); }
};

/// Slots of equal size, side by side.
struct Slots {
  std::uint32_t first = 0; ///< scratchpad row
  std::uint32_t rows = 0;  ///< of a slot
  std::uint32_t count = 0;
  std::uint32_t end() const { return first + rows * count; }
  std::uint32_t row(std::uint32_t slot) const { return first + slot * rows; }
};

struct Areas {
  Slots operands; ///< bf16 tiles
  Slots partials; ///< fp32 sums
  Slots results;  ///< bf16 results on their way out; none if the pass has only dW
};

/// Tile sides along M, K and N: the policy's, or the largest smaller multiple of the array that fits, cut to the layer
/// (or the part of it that a partition makes).
/// Throws CompileError if not even tiles of one array do.
TileShape tile_shape(const Layer &layer, const Step &step, const Policy &policy, const NpuConfig &npu);

/// Divides the scratchpad for tiles of this shape. `open_sums`: partial sums that the order has at most at a time.
Areas make_areas(const TileShape &tile, const Step &step, std::uint32_t open_sums, const Policy &policy,
                 const NpuConfig &npu);

/// Slots of so many that tiles on their way in or out should have beside those that are kept.
std::uint32_t spare_slots(std::uint32_t slots, std::uint32_t cores);

} // namespace gradweave::compiler::paper
