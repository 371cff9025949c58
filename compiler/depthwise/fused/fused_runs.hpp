// What the vector unit runs for fused layers. Rows count from the beginning of the section's.
#pragma once

#include "compiler/depthwise/fused/fused_layout.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/area.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler::depthwise {

class FusedRuns {
public:
  /// The references must outlive the object.
  FusedRuns(const std::vector<Layer> &layers, const FusedLayout &layout, const Machine &npu);

  const std::vector<isa::vector::Words> &programs() const { return programs_; }

  /// Before all areas: weights by columns of results, zeros beside images.
  std::vector<AreaRun> preparation() const;
  /// Depthwise layer `i` of an area: from the tile, which has `rows` of the image, to so many rows of the next map.
  std::vector<AreaRun> layer(std::size_t i, const PlaceTile &from, const FusedRows &rows, std::size_t results) const;
  /// How many of these, the last ones, copy rows that count.
  std::size_t row_copies(std::size_t i, std::size_t results) const {
    return layout_.kernels[i].sums_pitch == 0 ? 0 : results;
  }

private:
  struct Strips;

  isa::VectorTile strips(const PlaceTile &tile, const Strips &at, std::uint32_t slot) const;
  isa::VectorTile weights(std::size_t i, std::size_t tap, std::uint32_t slot) const;
  void spread_weights(std::size_t i, std::vector<AreaRun> &runs) const;
  void clear_sides(const FusedMap &map, const PlaceTile &tile, std::vector<AreaRun> &runs) const;
  AreaRun zeros(const PlaceTile &tile, const Strips &at) const;
  AreaRun copy(const PlaceTile &from, const Strips &there, const PlaceTile &to, const Strips &here) const;
  std::size_t panels(const FusedMap &map) const { return divide_up(map.channels, lanes_); }
  /// Columns of all panels, spare ones but those of the last panel among them.
  std::size_t all_columns(const FusedMap &map) const { return (panels(map) - 1) * map.columns + map.width; }

  const std::vector<Layer> &layers_;
  const FusedLayout &layout_;
  std::size_t lanes_;
  std::vector<isa::vector::Words> programs_; ///< zeros(), copies(), pairs(); by layer, image_rows()
  std::vector<std::size_t> rows_program_;    ///< by layer
};

} // namespace gradweave::compiler::depthwise
