// Jobs by the strides of their tiles: what may be laid out anew, cut, and joined to groups.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/stage/area.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Element (lane, step) is first + lane `lane` + step `step`; or, with a period, first + lane mod period.
struct StridedTile {
  std::size_t value = 0, first = 0, lane = 0, step = 0;
  std::size_t period = 0;
  bool fp32 = false;
  std::size_t elements = 0; ///< of the value

  bool operator==(const StridedTile &o) const {
    return value == o.value && first == o.first && lane == o.lane && step == o.step && period == o.period;
  }
};

/// A part of a tile.
struct Window {
  std::size_t col = 0, cols = 0; ///< first, and how many
  std::uint32_t lanes = 1;       ///< of the scratchpad
  std::size_t row = 0;           ///< first
};

/// A job, or its elements in another order of lanes and steps.
struct Stage {
  const isa::vector::Program *program = nullptr;
  std::size_t lanes = 1, steps = 1;
  std::vector<StridedTile> operands, results; ///< t0, t1, ...; o0, o1, ...
  bool elementwise = false;                   ///< lanes and steps may be cut and exchanged
  bool across = false;                        ///< a chain along the lanes, not the steps (across.hpp)
};

/// Lanes and steps, or a part of both.
struct StridedArea {
  std::size_t lane = 0, lanes = 1, step = 0, steps = 1;
};

Stage stage_of(const OpJobs &jobs, const VectorJob &job);

/// Operands with one element for all lanes, as bits.
std::uint32_t same_in_lanes(const Stage &stage);

/// Whether a program has read each element of an operand when it writes the result's in its place.
bool reads_before(const isa::vector::Program &program, std::size_t operand, std::size_t result);

/// The rectangle of an area, as a matrix whose columns lie side by side.
AreaTile tile_of(const StridedTile &tile, const StridedArea &area);

/// How a program sees it: as slot `slot`, in the rows of `tile`. A window begins in row `row` and column `col`, of
/// `lanes` columns a panel, and has all rows below.
isa::VectorTile view_of(const StridedTile &strided, const AreaTile &tile, std::uint32_t slot);
isa::VectorTile window_of(const StridedTile &strided, const AreaTile &tile, std::uint32_t slot, const Window &window);

/// Lanes become steps, and steps lanes.
Stage exchanged(Stage stage);

/// Whether all tiles have all elements in one order without gaps, line by line, or one element for all: then lines may
/// have any length.
bool is_flat(const Stage &stage);

/// `count` elements of a flat stage from element `first` on, as lines of so many.
Stage flat_part(const Stage &stage, std::size_t first, std::size_t count, std::size_t lanes);

/// Whether it is flat but for tiles that have one line for all steps: then several lines may be one.
bool is_periodic(const Stage &stage);

/// Lines `first` to `first` + `lines` of a periodic stage, so many of them as one.
Stage periodic_part(const Stage &stage, std::size_t first, std::size_t lines, std::size_t merged);

} // namespace gradweave::compiler
