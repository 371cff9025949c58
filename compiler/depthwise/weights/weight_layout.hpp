// How dW of a depthwise convolution is cut, and where its tiles lie in the scratchpad.
#pragma once

#include "compiler/depthwise/axis.hpp"
#include "compiler/depthwise/work.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"
#include "sw_models/config/npu_config.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler::depthwise {

/// Pixels of X of one phase, a line each: rows of the grid from `first` on, counted from the area's first one. Where
/// taps lie side by side, lines of all phases of x, of several pixels each.
struct WeightPlane {
  std::uint32_t phase_y = 0, phase_x = 0;
  std::uint32_t height = 0, width = 0; ///< of the phase; rows and lines of a row
  std::array<PlaceTile, 2> places;     ///< areas take turns
};

/// What is in macro-banks of its own, so that the array reads it in the same cycle as the others.
enum class Apart : std::uint8_t { kAll, kOperands, kNone };

/// Channels go in blocks, a panel each, and areas have several of them. An area is some rows of the grid of an image,
/// or whole images; a pass is all areas of the same channels and taps.
///
/// A product is of one tap, or of a few that follow one another in a row of the kernel: a line of X then has the pixels
/// that they take from it side by side, +0 where these are beside the image, and the product a diagonal for each tap.
struct WeightLayout {
  std::size_t block = 1;                ///< channels of a block at most: columns of a product
  std::size_t blocks = 1;               ///< of an area at most
  std::size_t side = 1;                 ///< taps of a product at most; more than 1: one block has all channels
  std::size_t tap_pitch = 0;            ///< columns of a line of X, and rows of a product, from tap to tap
  std::size_t across = 1;               ///< products of a row of the kernel
  std::size_t products = 1;             ///< of a pass at most, for each block
  std::size_t rows = 1;                 ///< of the grid, of an area at most
  std::size_t images = 1;               ///< of an area at most; more than 1: whole ones
  std::size_t grid_w = 0, grid_h = 0;   ///< lines of a row, rows of an image
  std::size_t whole = 0, whole_end = 0; ///< of a row of the grid: lines that have `side` pixels of the image
  std::int32_t first = 0;               ///< row of a plane where its tile begins; of whole images 0
  std::size_t height = 0;               ///< rows of a plane's tile
  std::vector<WeightPlane> planes;
  std::array<PlaceTile, 2> dy;
  PlaceTile sums;   ///< products, a panel for each block and product
  PlaceTile lines;  ///< a tap's diagonal each: the first taps of all products, their second ones, ...
  PlaceTile result; ///< channels by taps
  std::size_t spm_rows = 0;
  Apart apart = Apart::kAll;

  std::size_t channels() const { return blocks * block; }
  /// Whether there are other lines.
  bool has_edges() const { return side > 1 && (whole > 0 || whole_end < planes.front().width); }
  /// Rows of a product of so many taps and channels.
  std::size_t product_rows(std::size_t taps, std::size_t channels) const { return (taps - 1) * tap_pitch + channels; }
};

/// The layout that takes the least time, nearly. None fits, or the array's commands have no form for the convolution:
/// nothing.
std::optional<WeightLayout> choose_weight_layout(const DepthwiseWork &work, const NpuConfig &npu);

} // namespace gradweave::compiler::depthwise
