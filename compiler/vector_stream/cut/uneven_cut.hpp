// Few areas of whole chains, of different sizes.
#pragma once

#include "compiler/vector_stream/group/group.hpp"
#include "sw_models/config/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// The tiles of an area in which a result takes the place of an operand of the same elements that nobody reads later.
GroupTiles tiles_over(const JobGroup &group, const StridedArea &area, const NpuConfig &npu);

/// Lanes of each area of a group of whole chains. A run takes as long whatever its lanes, if they are few: then the
/// first area is small, so that runs begin early, and the one before the last is so large that its STOREs go beside the
/// last run.
struct UnevenCut {
  std::vector<std::size_t> lanes; ///< empty: areas of one size take no longer
  std::size_t most = 0;           ///< of them
};

/// With tiles_over(); `even`: lanes of areas of one size, with a place for each tile.
UnevenCut uneven_cut(const JobGroup &group, std::size_t even, const Machine &npu);

} // namespace gradweave::compiler
