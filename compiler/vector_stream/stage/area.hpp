// Areas: what a section's commands do one after the other. Jobs are cut into areas that fit a place of the scratchpad.
#pragma once

#include "isa/command.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A rectangle of a value in memory, and the tile that holds it in the scratchpad.
struct AreaTile {
  std::size_t value = 0;            ///< which of OpJobs::values
  std::size_t first = 0, pitch = 0; ///< element (0, 0), and from row to row; elements
  std::uint32_t rows = 1, cols = 1;
  std::uint32_t period = 0; ///< if not 0: one row, of so many elements from the first on again and again,
  std::uint32_t phase = 0;  ///< which begins with this one of them
  bool fp32 = false;
  isa::SpmTile spm; ///< its row counts from the beginning of the place

  /// The element behind the last one.
  std::size_t end() const { return first + (rows - 1) * pitch + (period == 0 ? cols : period); }
};

/// Whether elements of one may lie between those of the other.
inline bool overlap(const AreaTile &a, const AreaTile &b) {
  return a.value == b.value && a.first < b.end() && b.first < a.end();
}

/// A run of a program.
struct AreaRun {
  std::size_t program = 0; ///< which of AreaPlan::programs
  std::uint32_t elements = 1, steps = 1;
  std::vector<isa::VectorTile> tiles; ///< rows count from the beginning of the place
  std::vector<isa::VectorTile> state; ///< not of the area's place: rows count from the scratchpad's beginning
};

struct Area {
  std::vector<AreaTile> loaded;
  std::vector<AreaRun> runs; ///< none: what is loaded is stored
  std::vector<AreaTile> stored;
  std::size_t layout = 0; ///< areas of one layout follow one another, and have their tiles at the same rows
};

/// Areas of all jobs, in order.
struct AreaPlan {
  std::vector<isa::vector::Words> programs;
  /// Rows at the scratchpad's beginning that belong to no place, even; none: state_rows(), for values of chains.
  std::optional<std::uint32_t> region = {};
  std::vector<Area> areas;
};

} // namespace gradweave::compiler
