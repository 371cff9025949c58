#include "compiler/depthwise/weights/weight_loads.hpp"

#include <algorithm>

namespace gradweave::compiler::depthwise {
namespace {

class LoadsOfArea {
public:
  LoadsOfArea(const DepthwiseWork &work, const WeightLayout &layout, const std::vector<std::uint64_t> &addresses,
              const NpuConfig &npu, const WeightArea &area, std::size_t place)
      : conv_(work.conv), pitch_(work.pixel_pitch() * 2), layout_(layout), addresses_(addresses), npu_(npu),
        area_(area), place_(place) {}

  WeightLoads run() && {
    if (!layout_.has_edges()) add_x();
    add_dy();
    loads_.before_edges = loads_.all.size();
    if (layout_.has_edges()) add_x();
    return std::move(loads_);
  }

private:
  /// Rows of pixels in memory that follow one another, and lines of a tile.
  struct Rows {
    std::size_t image = 0, row = 0; ///< in memory
    std::size_t line = 0;           ///< of the tile, where the first one lies
  };
  struct Pixels {
    std::size_t value = 0;                           ///< X or dY
    std::size_t height = 0, width = 0;               ///< of an image in memory
    std::size_t step_y = 1, step_x = 1, first_x = 0; ///< from row to row, and of the pixels of a row
    std::size_t count = 0;                           ///< pixels of a row
  };

  /// All rows; in one LOAD what is so in memory and in the tile. A block has a panel of its own.
  void add_loads(const Pixels &pixels, const std::vector<Rows> &rows, const PlaceTile &tile) {
    const bool dense = pixels.step_x == 1 && pixels.count == pixels.width;
    for (std::size_t i = 0, next = 0; i < rows.size(); i = next) {
      const auto place = [&](const Rows &r) { return r.image * pixels.height + r.row; };
      for (next = i + 1; next < rows.size() && dense; ++next)
        if (place(rows[next]) != place(rows[i]) + (next - i) ||
            rows[next].line != rows[i].line + (next - i) * pixels.count)
          break;
      const std::size_t blocks = divide_up(area_.pass.channels, layout_.block),
                        together = layout_.block == npu_.lanes() ? blocks : 1;
      for (std::size_t block = 0; block < blocks; block += together) {
        const std::size_t channel = block * layout_.block;
        isa::DmaCommand d;
        d.dram_addr = addresses_[pixels.value] + (place(rows[i]) * pixels.width + pixels.first_x) * pitch_ +
                      (area_.pass.channel + channel) * 2;
        d.rows = static_cast<std::uint32_t>((next - i) * pixels.count);
        d.pitch = d.rows == 1 ? 0 : static_cast<std::uint32_t>(pixels.step_x * pitch_);
        d.cols = static_cast<std::uint32_t>(together > 1 ? area_.pass.channels
                                                         : std::min(layout_.block, area_.pass.channels - channel));
        d.spm = transfer_tile(tile, rows[i].line, block, npu_.lanes());
        loads_.all.push_back(d);
      }
    }
  }

  /// Of lines of X with the pixels of several taps: what is there of them, from line `x` of a row of the grid on.
  void add_lines(const Rows &row, std::size_t x, std::size_t lines, const PlaceTile &tile) {
    const std::int64_t first = static_cast<std::int64_t>(x * conv_.stride_width) - conv_.pad_left;
    const std::int64_t begin = std::max<std::int64_t>(0, -first),
                       end = std::min<std::int64_t>(static_cast<std::int64_t>(layout_.side), conv_.width - first);
    if (begin >= end || lines == 0) return;
    isa::DmaCommand d;
    const std::size_t pixel =
        (row.image * conv_.height + row.row) * conv_.width + static_cast<std::size_t>(first + begin);
    d.dram_addr = addresses_[0] + pixel * pitch_;
    d.rows = static_cast<std::uint32_t>(lines);
    d.pitch = d.rows == 1 ? 0 : static_cast<std::uint32_t>(conv_.stride_width * pitch_);
    d.cols = static_cast<std::uint32_t>(static_cast<std::size_t>(end - begin) * layout_.tap_pitch);
    d.spm = transfer_tile(tile, row.line + x, 0, npu_.lanes());
    d.spm.rot =
        static_cast<isa::Lane>((d.spm.rot + static_cast<std::size_t>(begin) * layout_.tap_pitch) % npu_.lanes());
    loads_.all.push_back(d);
  }

  /// LOADs of X in lines that have the pixels of several taps. Lines at the edges take a LOAD each, whose latency
  /// others hide that are long.
  void add_side_by_side() {
    for (const WeightPlane &plane : layout_.planes)
      for (const Rows &row : rows_of(plane)) {
        const PlaceTile &tile = plane.places.at(place_);
        add_lines(row, layout_.whole, layout_.whole_end - layout_.whole, tile);
        for (std::size_t x = 0; x < plane.width; ++x)
          if (x < layout_.whole || x >= layout_.whole_end) add_lines(row, x, 1, tile);
      }
  }

  void add_x() {
    if (layout_.side > 1) return add_side_by_side();
    for (const WeightPlane &plane : layout_.planes)
      add_loads({0, conv_.height, conv_.width, conv_.stride_height, conv_.stride_width, plane.phase_x, plane.width},
                rows_of(plane), plane.places.at(place_));
  }

  void add_dy() {
    std::vector<Rows> rows;
    for (std::size_t image = 0; image < area_.images; ++image)
      for (std::size_t row = 0; row < area_.rows; ++row)
        rows.push_back({area_.image + image, area_.row + row, (image * layout_.grid_h + row) * layout_.grid_w});
    add_loads({1, conv_.out_height(), conv_.out_width(), 1, 1, 0, conv_.out_width()}, rows, layout_.dy.at(place_));
  }

  /// Rows of the image in a phase that an area reads.
  std::vector<Rows> rows_of(const WeightPlane &plane) const {
    const std::int64_t first = static_cast<std::int64_t>(area_.row) + layout_.first;
    const bool is_whole = layout_.rows == conv_.out_height();
    const std::size_t height = is_whole ? plane.height : layout_.height - (layout_.rows - area_.rows);
    std::vector<Rows> rows;
    for (std::size_t image = 0; image < area_.images; ++image)
      for (std::size_t i = 0; i < height; ++i) {
        const std::int64_t row = first + static_cast<std::int64_t>(i);
        if (row >= 0 && row < std::int64_t{plane.height})
          rows.push_back({area_.image + image, static_cast<std::size_t>(row) * conv_.stride_height + plane.phase_y,
                          (image * layout_.grid_h + i) * layout_.grid_w});
      }
    return rows;
  }

  const Convolution &conv_;
  std::size_t pitch_; ///< bytes from pixel to pixel
  const WeightLayout &layout_;
  const std::vector<std::uint64_t> &addresses_;
  const NpuConfig &npu_;
  const WeightArea &area_;
  std::size_t place_;
  WeightLoads loads_;
};

} // namespace

WeightLoads weight_loads(const DepthwiseWork &work, const WeightLayout &layout,
                         const std::vector<std::uint64_t> &addresses, const NpuConfig &npu, const WeightArea &area,
                         std::size_t place) {
  return LoadsOfArea(work, layout, addresses, npu, area, place).run();
}

} // namespace gradweave::compiler::depthwise
