#include "compiler/depthwise/image_weights.hpp"

#include "compiler/depthwise/image_programs.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

using isa::VectorTile;

/// A few copies of the columns of W, or of pairs of them, then copies of these. In tiles of their own, as a run must
/// not write rows that it reads.
class WeightSpreader {
public:
  WeightSpreader(const ImageWork &work, const ImageLayout &layout, const NpuConfig &npu, Area &area)
      : work_(work), layout_(layout), lanes_(npu.lanes()),
        second_place_(layout.region + place_rows(npu, layout.region)),
        part_(divide_up(work.channels, layout.weight_parts)), lines_(layout.by_rows ? work.pairs() : work.taps),
        area_(area) {}

  void run() {
    for (std::size_t i = 0; i < layout_.weight_parts; ++i)
      if (channels_of(i, work_.kernels) > 0) area_.loaded.push_back(loaded(i));
    if (layout_.by_rows) pair();
    copy_some();
    if (layout_.width > 1) copy_all();
  }

private:
  /// Channels of part `i`, which may be none.
  std::size_t channels_of(std::size_t i, std::size_t all) const {
    return std::clamp(all, i * part_, (i + 1) * part_) - i * part_;
  }

  AreaTile loaded(std::size_t i) const {
    AreaTile t;
    t.value = kImageWeights;
    t.first = i * part_ * work_.taps;
    t.pitch = work_.taps;
    t.rows = static_cast<std::uint32_t>(channels_of(i, work_.kernels));
    t.cols = static_cast<std::uint32_t>(work_.taps);
    t.spm = transfer_tile(layout_.weights, 0, 0, lanes_);
    t.spm.rot = static_cast<isa::Lane>(i * work_.taps % lanes_);
    return t;
  }

  VectorTile in_second_place(const PlaceTile &tile, const Part &at, std::uint32_t slot) const {
    VectorTile v = window(tile, at, slot, lanes_);
    v.spm.row += second_place_;
    return v;
  }

  /// Columns of W as lines.
  VectorTile columns(std::size_t i, std::size_t tap, std::size_t taps, std::uint32_t slot) const {
    const Part at{0, i * work_.taps + tap, channels_of(i, work_.channels), taps};
    VectorTile v = window(layout_.weights, at, slot, lanes_);
    v.by_col = true;
    return v;
  }

  void add_run(std::size_t program, std::size_t elements, std::size_t steps, std::vector<VectorTile> tiles,
               std::vector<VectorTile> others) {
    area_.runs.push_back({program, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(steps),
                          std::move(tiles), std::move(others)});
  }

  /// The first pair is the last line.
  void pair() {
    for (std::size_t pair = 0; pair < work_.pairs(); ++pair)
      for (std::size_t i = 0; i < layout_.weight_parts; ++i) {
        const std::size_t n = channels_of(i, work_.channels);
        if (n == 0) continue;
        const Part line{work_.pairs() - 1 - pair, i * part_, 1, n};
        std::vector<VectorTile> tiles{columns(i, 2 * pair, 1, 0)};
        const bool whole = 2 * pair + 1 < work_.taps;
        if (whole) tiles.push_back(columns(i, 2 * pair + 1, 1, 1));
        add_run(whole ? ImagePrograms::kPairs : ImagePrograms::kCopies, n, 1, std::move(tiles),
                {in_second_place(layout_.paired, line, isa::kOperandSlots)});
      }
  }

  /// Of one pixel these are all.
  void copy_some() {
    const std::size_t c = work_.channels;
    for (std::size_t copy = 0; copy < layout_.copies; ++copy)
      if (layout_.by_rows)
        add_run(ImagePrograms::kCopies, c, lines_, {},
                {in_second_place(layout_.paired, {0, 0, lines_, c}, 0), copied(copy * c, c)});
      else
        for (std::size_t i = 0; i < layout_.weight_parts; ++i)
          if (const std::size_t n = channels_of(i, c); n > 0)
            add_run(ImagePrograms::kCopies, n, lines_, {columns(i, 0, lines_, 0)}, {copied(copy * c + i * part_, n)});
  }
  VectorTile copied(std::size_t col, std::size_t cols) const {
    return layout_.width > 1 ? in_second_place(layout_.some_copies, {0, col, lines_, cols}, isa::kOperandSlots)
                             : spread(col, cols);
  }

  void copy_all() {
    for (std::size_t done = 0; done < layout_.width; done += layout_.copies) {
      const std::size_t cols = std::min(layout_.copies, layout_.width - done) * work_.channels;
      add_run(ImagePrograms::kCopies, cols, lines_, {},
              {in_second_place(layout_.some_copies, {0, 0, lines_, cols}, 0), spread(done * work_.channels, cols)});
    }
  }
  /// The lines that count: by rows the last ones.
  VectorTile spread(std::size_t col, std::size_t cols) const {
    const std::size_t first = layout_.by_rows ? layout_.in_rows - lines_ : 0;
    return window(layout_.spread, {first, col, lines_, cols}, isa::kOperandSlots, lanes_);
  }

  const ImageWork &work_;
  const ImageLayout &layout_;
  std::uint32_t lanes_;
  std::uint32_t second_place_; ///< where it begins
  std::size_t part_;           ///< channels of each part of the weights but the last
  std::size_t lines_;
  Area &area_;
};

} // namespace

void spread_weights(const ImageWork &work, const ImageLayout &layout, const NpuConfig &npu, Area &first) {
  WeightSpreader(work, layout, npu, first).run();
}

} // namespace gradweave::compiler::depthwise
