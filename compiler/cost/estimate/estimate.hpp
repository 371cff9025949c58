// Closed-form estimate of a phase, to rank tilings before they are played through.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <vector>

namespace gradweave::compiler {

struct RoughEstimate {
  double cycles = 0;
  double bound = 0; ///< cycles that no residency can beat: compute, and each tensor moved once
  /// Scratchpad rows that the phase would like for tiles of each area.
  double shared_rows = 0, other_rows = 0, result_rows = 0;
};

/// In closed form, for the part of a layer that one of `cores` cores computes; they share scratchpad and memory
/// equally. One for each of the loop orders.
std::vector<RoughEstimate> rough_estimates(PhaseKind kind, const std::vector<LoopOrder> &orders, const TileShape &tile,
                                           const Layer &layer, const Machine &npu, std::uint32_t cores);
/// That of one loop order.
RoughEstimate rough_estimate(PhaseKind kind, const LoopOrder &loops, const TileShape &tile, const Layer &layer,
                             const Machine &npu, std::uint32_t cores);

/// Cycles that no loop order's estimate is below; in far less time.
double least_estimate(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu);

/// The same of a phase that cores compute together, taking tiles along `dim` by turns: all of the scratchpad serves all
/// of them, and their tiles together move as one. Cycles are those of the run, not of a core's share.
std::vector<RoughEstimate> rough_estimates_together(PhaseKind kind, const std::vector<LoopOrder> &orders,
                                                    const TileShape &tile, const Layer &layer, const Machine &npu,
                                                    Dim dim, std::uint32_t cores);
RoughEstimate rough_estimate_together(PhaseKind kind, const LoopOrder &loops, const TileShape &tile, const Layer &layer,
                                      const Machine &npu, Dim dim, std::uint32_t cores);
double least_estimate_together(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu, Dim dim,
                               std::uint32_t cores);

} // namespace gradweave::compiler
