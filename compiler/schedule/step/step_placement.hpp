// What the memory model would keep in the scratchpad from one layer to another: a beginning for the search of a step.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A layer's pass in one direction, with the plans of its phases.
struct PlacedSection {
  std::uint32_t layer = 0;
  const std::vector<PhasePlan> *plans = nullptr;
};

/// What a section takes over from those before it.
struct TakenOver {
  bool any = false; ///< something is in the scratchpad that it or a later section uses
  /// Sections that used before what it finds there, the latest last.
  std::vector<std::size_t> from = {};
};

/// Of sections in the order in which they run. Which bytes of which tensor stay is the plan by rows of the memory model
/// (memory_model/placement.hpp): a tensor is taken over if at least half of it stays. Each section has room for two of
/// each tile of its phases.
std::vector<TakenOver> place_tensors(const std::vector<PlacedSection> &sections, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu);

} // namespace gradweave::compiler
