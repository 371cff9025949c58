// Areas: what a section's commands do one after the other. A job is cut into areas that fit a place of the scratchpad.
#pragma once

#include "isa/command.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A rectangle of a value: in memory, and as a tile in the place of its area.
struct AreaTile {
  std::size_t value = 0;            ///< which of OpJobs::values
  std::size_t first = 0, pitch = 0; ///< element (0, 0), and from row to row; elements
  isa::VectorTile tile;             ///< its row counts from the beginning of the place

  /// The element behind the last one.
  std::size_t end() const { return first + (tile.rows - 1) * pitch + tile.cols; }
};

/// A run of a program.
struct AreaRun {
  std::size_t program = 0; ///< which of AreaPlan::programs
  std::uint32_t elements = 1, steps = 1;
};

struct Area {
  std::vector<AreaTile> loaded, stored;
  std::vector<isa::VectorTile> state; ///< values of a chain that goes on; rows count from the beginning of its region
  std::optional<AreaRun> run;         ///< none: what is loaded is stored
  std::size_t layout = 0;             ///< areas of one layout have their tiles at the same rows
};

/// Areas of all jobs, in order.
struct AreaPlan {
  std::vector<isa::vector::Words> programs;
  std::vector<Area> areas;
};

} // namespace gradweave::compiler
