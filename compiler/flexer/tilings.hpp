// Tilings and data flows that are worth a schedule.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler::flexer {

/// A tiling with the data flow, a loop order, in which its operations are listed.
struct Tiling {
  TileShape tile;
  LoopOrder loops{};
  double cycles = 0; ///< estimated, on all cores
};

/// What there was to choose among.
struct TilingCount {
  std::uint64_t fitting = 0;   ///< tilings of which a product fits the scratchpad
  std::uint64_t too_large = 0; ///< of those, with more operations than are scheduled
};

/// Operations of a phase at most: beyond, a tiling is left out.
inline constexpr std::uint64_t kMostOperations = 2000;

/// The `most` tilings of a phase that are fastest by estimate, each with the best of its data flows, fastest first.
/// Throws CompileError if no product fits the scratchpad, or if all tilings that do have too many operations.
std::vector<Tiling> tilings_of(PhaseKind kind, const Layer &layer, const Machine &npu, std::size_t most,
                               TilingCount *count = nullptr);

/// The operations of a tiling in the order of its data flow. All of the scratchpad is one area.
PhasePlan plan_of(PhaseKind kind, const Tiling &tiling, const Layer &layer, const Machine &npu);

} // namespace gradweave::compiler::flexer
