// A job's tiles by their strides: what may be laid out anew.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/area.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Element (lane, step) is first + lane `lane` + step `step`.
struct StridedTile {
  std::size_t value = 0, first = 0, lane = 0, step = 0;
  std::uint32_t slot = 0; ///< t0 to t4, then o0 to o3
  bool fp32 = false;

  bool is_result() const { return slot >= isa::kOperandSlots; }
};

/// Lanes and steps of a job, or a part of both.
struct StridedArea {
  std::size_t lane = 0, lanes = 1, step = 0, steps = 1;
};

struct StridedJob {
  std::size_t lanes = 1, steps = 1;
  std::vector<StridedTile> tiles; ///< operands, then results
};

StridedJob strided(const VectorJob &job, const std::vector<JobValue> &values);

/// The tile of an area, as a matrix whose columns lie side by side; its place is still to be chosen.
AreaTile tile_of(const StridedTile &tile, const StridedArea &area);

/// Lanes become steps, and steps lanes.
StridedJob exchanged(StridedJob job);

/// Whether all tiles have all elements in one order without gaps, or one element for all: then lines may have any
/// length.
bool is_flat(const StridedJob &job);

/// `count` elements of a flat job from element `first` on, as lines of so many.
StridedJob flat_part(const StridedJob &job, std::size_t first, std::size_t count, std::size_t lanes);

} // namespace gradweave::compiler
