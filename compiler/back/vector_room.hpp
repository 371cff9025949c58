// How a scratchpad is shared between tiles of products and sections of the vector unit in one stream.
#pragma once

#include "compiler/back/vector_section.hpp"
#include "compiler/ir/program.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gradweave::compiler {

struct SharedMachine {
  Machine npu;   ///< all of it, of one core if sections have a share
  Machine tiles; ///< with the scratchpad that tiles may lie in: without the unit's, the last macro-banks
  std::optional<VectorRoom> unit; ///< what sections have; none: tiles have all
};

/// Gives sections so many eighths of the macro-banks, or half if `fits` says no to that; none if to both.
std::optional<SharedMachine> share_machine(const Machine &npu, std::uint32_t eighths,
                                           const std::function<bool(const VectorRoom &)> &fits);

/// The most that sections can have. None: the NPU has no vector unit, several cores, one macro-bank, or no semaphores
/// left.
std::optional<VectorRoom> largest_room(const Machine &npu);

/// Whether a layer's passes fit.
bool fits_room(const Layer &layer, Pass pass, const VectorRoom &room);

/// For a step of these layers, whose sections have three eighths of the macro-banks if they fit, else half; of which
/// those of the vector unit (Layer::vector) fit largest_room(). Without any, tiles have all.
SharedMachine share_step(const std::vector<Layer> &layers, Pass pass, const Machine &npu);

/// Phases of a layer's pass in one direction that the vector unit computes, a section each, with products. `index` is
/// the layer's among those of the layout.
std::vector<PhasePlan> section_phases(const Layer &layer, std::uint32_t index, Pass pass, const Layout &layout,
                                      const VectorRoom &room);

} // namespace gradweave::compiler
