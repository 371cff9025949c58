// Where reductions are cut.
#pragma once

#include "compiler/request/names.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// For each result, where its reduction is cut: part 0 is [0, cuts[0]), part 1 [cuts[0], cuts[1]), and so on. Every
/// part is summed from +0, then the parts are added, ascending (docs/numerics.md). No cuts: one sum, the naive order.
struct ReductionPlans {
  std::array<std::vector<std::uint32_t>, kTensorCount> cuts;
  /// Of Y and dX where images are read: channels that the reduction takes at a time, all taps of each block before the
  /// next one (N25). 0: all channels of a tap before the next tap. Terms are counted in the order in which they are
  /// summed.
  std::array<std::uint32_t, kTensorCount> block{};

  const std::vector<std::uint32_t> &of(Tensor t) const { return cuts[static_cast<std::size_t>(t)]; }
  std::uint32_t block_of(Tensor t) const { return block[static_cast<std::size_t>(t)]; }
  /// First index of a part.
  std::uint32_t first(Tensor t, std::uint32_t part) const { return part == 0 ? 0 : of(t).at(part - 1); }
  /// One past the last index of a part, in a reduction of `extent`.
  std::uint32_t end(Tensor t, std::uint32_t part, std::uint32_t extent) const {
    return part < of(t).size() ? of(t)[part] : extent;
  }
};

} // namespace gradweave::compiler
