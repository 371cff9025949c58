// What the items of strips consist of: LOADs into places that are free, programs that are written once, runs on tiles.
#pragma once

#include "compiler/strips/strip_item.hpp"
#include "compiler/strips/strip_layout.hpp"
#include "compiler/vector_stream/group/group.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Writes the parts of one item after the other: what it names is of the item at hand, the next of `out_`.
class StripWriter {
protected:
  StripWriter(const StripJobs &jobs, const OpJobs &of, const StripLayout &layout,
              const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : jobs_(jobs), of_(of), layout_(layout), addresses_(addresses), npu_(npu), free_from_(layout.regions()) {}

  /// Tiles of a run, in the order of the stage's operands and results.
  struct Tiles {
    std::vector<AreaTile> operands, results;
    std::vector<RegionRange> reads, writes;
  };

  /// Columns `col` to `col + cols` from now on, their lines in this set of places.
  void begin_strip(std::size_t col, std::size_t cols, std::size_t line_set);

  /// Before the item's runs, as soon as nobody uses what the regions have.
  void load(const std::vector<isa::DmaCommand> &dmas, const RegionRange &regions);
  /// The item uses the regions.
  void touch(const RegionRange &regions);

  /// Rows of a matrix in memory, from row `first` of each part of the bundle on, of the strip's columns.
  std::vector<isa::DmaCommand> matrix_dmas(std::size_t value, const PartBundle &bundle, std::size_t first,
                                           std::size_t rows, bool stored, const isa::SpmTile &spm) const;
  /// A line of the strip's columns, or a number, at a place of the scratchpad.
  isa::DmaCommand line_dma(const StripTile &tile, bool stored, const StripPlace &place) const;
  /// Lanes of so many parts, from the first one of a bundle on.
  std::size_t lanes_of(std::size_t parts) const { return layout_.lane_of(parts - 1) + cols_; }

  static AreaTile area_tile(std::uint32_t row, std::uint32_t pstride, std::size_t rows, std::size_t cols, bool fp32);
  /// As many copies of a line as there are parts; or the line, or number, that has none.
  void add_copies(const StripTile &t, std::size_t parts, std::vector<AreaTile> &tiles,
                  std::vector<RegionRange> &regions) const;
  /// As many of the value's lines as there are parts.
  void add_line(const StripTile &t, std::size_t entry, std::size_t parts, std::vector<AreaTile> &tiles,
                std::vector<RegionRange> &regions) const;
  /// A run of the stage over so many lanes and steps.
  StripRun run_of(const StripStage &stage, std::size_t lanes, std::size_t steps, const Tiles &tiles);

  bool is_fp32(std::size_t value) const { return of_.values[value].type != graph::ElementType::kBf16; }

  const StripJobs &jobs_;
  const OpJobs &of_;
  const StripLayout &layout_;
  const std::vector<std::uint64_t> &addresses_; ///< of each value, in memory
  const NpuConfig &npu_;
  std::size_t col_ = 0, cols_ = 1; ///< of the strip
  std::size_t line_set_ = 0;
  StripItems out_;

private:
  std::size_t item() const { return out_.items.size(); }

  std::vector<std::size_t> free_from_; ///< of each region: the item from which on nobody uses what it has
};

} // namespace gradweave::compiler
