// How layers are computed together, some rows of the last one's image at a time (fused layers: M. Alwani et al., MICRO
// 2016), and where in the scratchpad their images lie.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/group/place_tile.hpp"
#include "graph/network.hpp"
#include "sw_models/config/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler::depthwise {

/// What a layer of a chain reads, or the last one computes: the part of an image that an area has. A pixel is a row of
/// the tile, as array results lie, and pixels go column by column, so that the vector unit takes a column of the image
/// a strip, and goes along its rows.
struct FusedMap {
  std::uint32_t height = 0, width = 0, channels = 0; ///< of the image
  std::size_t rows = 0;                              ///< of the image, at most
  std::size_t left = 0, right = 0;                   ///< columns of zeros beside it
  std::size_t columns = 0;                           ///< of a panel, these among them, and spare ones
  std::size_t pitch = 0;                             ///< rows of the scratchpad from column to column
  std::size_t first = 0;                             ///< row of a column that the area's first row is
  PlaceTile tile;

  /// Row of the tile where a column begins.
  std::size_t at(std::size_t column) const { return (left + column) * pitch; }
};

/// A depthwise layer's own tiles.
struct FusedKernel {
  PlaceTile sums;               ///< results of all rows, if not all of them are rows of the next map
  std::size_t sums_pitch = 0;   ///< from column to column
  PlaceTile spread;             ///< pairs of weights by columns of results, in the lanes of the channels there
  std::size_t spread_pitch = 0; ///< rows from column to column
};

struct FusedLayout {
  std::size_t rows = 0;             ///< of the last layer's image that an area computes
  std::vector<FusedMap> maps;       ///< what the first layer reads, and what each computes
  PlaceTile other_input;            ///< the first map's other place
  std::vector<PlaceTile> weights;   ///< by layer
  std::vector<FusedKernel> kernels; ///< by layer
  std::size_t spm_rows = 0;
  double cycles = 0; ///< what the section takes of a stream that waits for memory, nearly

  /// Areas of an image.
  std::size_t areas() const { return divide_up(maps.back().height, rows); }
};

/// Whether a layer can be one of a chain, by its shape: a depthwise convolution whose kernel fits registers, or one
/// product whose result leaves as bf16.
bool can_be_fused(const Layer &layer);

/// The layout with so many rows of the last map in an area that takes the fewest rows of the scratchpad that `npu` has.
/// Two layers or more follow one another, each reads what the one before computes, and there is a depthwise one among
/// them. None fits: nothing.
std::optional<FusedLayout> fused_layout(const std::vector<Layer> &layers, std::size_t rows, const Machine &npu);

/// Rows [first, first + count) of an image, of which those below 0 and beyond its height are zeros.
struct FusedRows {
  std::int64_t first = 0;
  std::size_t count = 0;
  /// Of these, those that the image has: from `begin` to `end`, counted from the first.
  std::size_t begin() const { return first < 0 ? static_cast<std::size_t>(-first) : 0; }
  std::size_t end(std::uint32_t height) const {
    const std::int64_t left = static_cast<std::int64_t>(height) - first;
    return left < static_cast<std::int64_t>(count) ? static_cast<std::size_t>(left < 0 ? 0 : left) : count;
  }
};

/// Rows of each map that so many rows of the last one take.
std::vector<FusedRows> fused_rows(const std::vector<Layer> &layers, const FusedRows &last);

} // namespace gradweave::compiler::depthwise
