#include "compiler/depthwise/weights/weight_layout.hpp"

#include "compiler/depthwise/part_sizes.hpp"
#include "compiler/depthwise/plans.hpp"
#include "compiler/depthwise/programs.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/vector_stream/stage/lane_cycles.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace gradweave::compiler::depthwise {
namespace {

// What fields of WGRAD hold (docs/isa.md).
constexpr std::size_t kWidest = 2047, kHighest = 1023;
constexpr std::int32_t kFarthest = 127;

constexpr std::uint64_t kLatency = 150;   ///< of an area's LOADs, nearly
constexpr std::uint64_t kLineCycles = 10; ///< of a LOAD of one line, beside its beats, nearly
/// One part of so many of what memory takes beside the array: others in the stream wait for memory, too.
constexpr std::uint64_t kMoved = 4;

/// Along one axis: phases of the image that taps read, and the moves of taps within their phase.
struct PhasedAxis {
  struct Phase {
    std::uint32_t phase = 0, size = 0; ///< pixels
  };
  std::vector<Phase> phases;
  std::int32_t least = 0, most = 0; ///< moves
  std::size_t largest = 0;          ///< pixels of a phase
  bool legal = true;                ///< each phase has pixels, and moves fit their fields
};

PhasedAxis phased(const Axis &axis) {
  PhasedAxis phased;
  const auto stride = static_cast<std::int32_t>(axis.in_stride);
  std::set<std::uint32_t> phases;
  for (const AxisTap &tap : axis.phases.front().taps)
    phases.insert(static_cast<std::uint32_t>(tap.offset - floor_div(tap.offset, stride) * stride));
  for (const std::uint32_t phase : phases) {
    const std::uint32_t size = phase < axis.in ? (axis.in - phase - 1) / axis.in_stride + 1 : 0;
    phased.phases.push_back({phase, size});
    phased.largest = std::max<std::size_t>(phased.largest, size);
    phased.legal = phased.legal && size > 0;
  }
  phased.least = floor_div(axis.least, stride);
  phased.most = floor_div(axis.most, stride);
  phased.legal = phased.legal && phased.least >= -kFarthest && phased.most <= kFarthest;
  return phased;
}

/// Of lines that have the pixels of `side` taps side by side: one phase, in which products of the first, second, ...
/// taps of a row of the kernel are so many lines apart.
PhasedAxis side_by_side(const Convolution &conv, std::size_t side) {
  PhasedAxis axis;
  const std::size_t across = divide_up(conv.kernel_width, side);
  axis.most = static_cast<std::int32_t>((across - 1) * side / conv.stride_width);
  axis.largest = conv.out_width() + static_cast<std::size_t>(axis.most);
  axis.phases = {{0, static_cast<std::uint32_t>(axis.largest)}};
  axis.legal = conv.dilation_width == 1 && (across == 1 || side % conv.stride_width == 0) && axis.most <= kFarthest;
  return axis;
}

class WeightLayouts {
public:
  WeightLayouts(const DepthwiseWork &work, const NpuConfig &npu)
      : conv_(work.conv), pitch_(work.pixel_pitch()), npu_(npu),
        y_(phased(forward_axis({conv_.height, conv_.out_height(), conv_.kernel_height, conv_.stride_height,
                                conv_.pad_top, conv_.dilation_height}))) {}

  std::optional<WeightLayout> choose() {
    if (!y_.legal || grid_h() > kHighest) return std::nullopt;
    const std::size_t most = std::min<std::size_t>({npu_.rows, npu_.cols, conv_.channels}), beat = npu_.bus_bytes / 2;
    x_ = phased(forward_axis({conv_.width, conv_.out_width(), conv_.kernel_width, conv_.stride_width, conv_.pad_left,
                              conv_.dilation_width}));
    judge_blocks(most);
    if (most > beat && most % beat != 0) judge_blocks(most / beat * beat); // no beat has channels of two blocks
    if (most < conv_.channels) return std::move(best_);
    for (side_ = 2; side_ <= conv_.kernel_width && side_ * pitch_ <= std::min(npu_.rows, npu_.lanes()); ++side_) {
      x_ = side_by_side(conv_, side_);
      judge_blocks(most);
    }
    return std::move(best_);
  }

private:
  struct Cut {
    std::size_t block, blocks, products, rows, images;
  };

  std::size_t grid_w() const { return std::max<std::size_t>(conv_.out_width(), x_.largest); }
  std::size_t grid_h() const { return std::max<std::size_t>(conv_.out_height(), y_.largest); }
  std::size_t across() const { return divide_up(conv_.kernel_width, side_); }
  std::size_t all_taps() const { return std::size_t{conv_.kernel_height} * conv_.kernel_width; }
  std::size_t all_products() const { return conv_.kernel_height * across(); }
  void judge_blocks(std::size_t block) {
    if (!x_.legal || grid_w() > kWidest) return;
    for (const std::size_t blocks : part_sizes(divide_up(conv_.channels, block))) {
      for (const std::size_t images : part_sizes(conv_.batch))
        judge_products({block, blocks, 0, conv_.out_height(), images});
      for (const std::size_t rows : part_sizes(conv_.out_height()))
        if (rows < conv_.out_height()) judge_products({block, blocks, 0, rows, 1});
    }
  }

  bool is_whole(const Cut &cut) const { return cut.rows == conv_.out_height(); }
  std::size_t lines(const Cut &cut) const { return (is_whole(cut) ? cut.images * grid_h() : cut.rows) * grid_w(); }

  /// With as many products as fit.
  void judge_products(Cut cut) {
    for (const std::size_t products : part_sizes(all_products())) {
      bool fitted = false;
      for (const Apart apart : {Apart::kAll, Apart::kOperands, Apart::kNone}) {
        cut.products = products;
        WeightLayout l = layout_of(cut, apart);
        if (!fits(l, cut)) continue;
        const std::uint64_t cycles = cycles_of(l, cut);
        fitted = true;
        if (best_ && cycles >= least_) continue;
        least_ = cycles;
        best_ = std::move(l);
      }
      if (fitted) return;
    }
  }

  WeightLayout layout_of(const Cut &cut, Apart apart) const {
    WeightLayout l;
    l.block = cut.block;
    l.blocks = cut.blocks;
    l.side = side_;
    l.tap_pitch = pitch_;
    l.across = across();
    l.products = cut.products;
    l.rows = cut.rows;
    l.images = cut.images;
    l.grid_w = grid_w();
    l.grid_h = grid_h();
    if (side_ > 1) set_whole_lines(l);
    l.first = is_whole(cut) ? 0 : y_.least;
    l.height = is_whole(cut) ? cut.images * l.grid_h : cut.rows + static_cast<std::size_t>(y_.most - y_.least);
    l.apart = apart;
    PlaceLayout place(npu_.lanes());
    // Taps may not move beyond the scratchpad, though what they read there is masked; behind X there is dY.
    const auto width = static_cast<std::int32_t>(l.grid_w);
    const std::int32_t before = -(is_whole(cut) ? y_.least * width + x_.least : x_.least),
                       behind = is_whole(cut) ? y_.most * width + x_.most : x_.most;
    if (before > 0) place.add(static_cast<std::size_t>(before), 1);
    const std::size_t lanes = cut.blocks * npu_.lanes();
    for (const PhasedAxis::Phase &y : y_.phases)
      for (const PhasedAxis::Phase &x : x_.phases)
        l.planes.push_back({y.phase, x.phase, y.size, x.size, {}});
    for (std::size_t p = 0; p < 2; ++p)
      for (WeightPlane &plane : l.planes)
        plane.places.at(p) = place.add(l.height * l.grid_w, lanes);
    const auto begin_bank = [&] { place.add(round_up(place.rows(), npu_.bank_rows()) - place.rows(), 1); };
    if (apart != Apart::kNone) begin_bank();
    const std::size_t x_end = place.rows();
    for (PlaceTile &tile : l.dy)
      tile = place.add(lines(cut), lanes);
    if (apart == Apart::kAll) begin_bank();
    l.sums = place.add(l.product_rows(side_, cut.block), cut.blocks * cut.products * npu_.lanes(), true);
    l.lines = place.add(1, side_ * cut.products * npu_.lanes(), true);
    l.result = place.add(cut.blocks * cut.block, std::min(side_ * cut.products, all_taps()), true);
    if (behind > 0) place.add(std::max(place.rows(), x_end + static_cast<std::size_t>(behind)) - place.rows(), 1);
    l.spm_rows = place.rows();
    return l;
  }

  void set_whole_lines(WeightLayout &l) const {
    const std::size_t padded = std::size_t{conv_.width} + conv_.pad_left;
    l.whole = std::min<std::size_t>(divide_up(conv_.pad_left, conv_.stride_width), x_.largest);
    const std::size_t end = padded < side_ ? 0 : (padded - side_) / conv_.stride_width + 1;
    l.whole_end = std::clamp(end, l.whole, x_.largest);
  }

  /// Whether fields of commands and the scratchpad have room.
  bool fits(const WeightLayout &l, const Cut &cut) const {
    const std::size_t longest = std::max({l.height * l.grid_w, lines(cut), l.channels(), cut.products * npu_.lanes()});
    return longest <= kMostInField && l.spm_rows <= npu_.spm_rows();
  }

  /// Cycles of all passes, nearly: the greater of array and memory, and what does not overlap.
  std::uint64_t cycles_of(const WeightLayout &l, const Cut &cut) const {
    const std::size_t areas =
        is_whole(cut) ? divide_up(conv_.batch, cut.images) : conv_.batch * divide_up(conv_.out_height(), cut.rows);
    const std::size_t steps = l.apart == Apart::kNone ? 2 * lines(cut) : lines(cut) + lines_of_sums_beside(l);
    std::uint64_t cycles = 0, first = 0;
    for (std::size_t channel = 0; channel < conv_.channels; channel += l.channels()) {
      const std::size_t channels = std::min<std::size_t>(l.channels(), conv_.channels - channel),
                        blocks = divide_up(channels, l.block);
      const std::uint64_t memory = memory_cycles(l, cut, channel * 2, channels * 2);
      for (std::size_t product = 0; product < all_products(); product += l.products) {
        const std::size_t products = std::min(l.products, all_products() - product);
        const std::uint64_t array = blocks * products * std::max<std::uint64_t>(steps, shortest_block(npu_));
        cycles += areas * (std::max(array, memory) + memory / kMoved) +
                  blocks * side_ * (lane_cycles(diagonal(), {products, l.block}, npu_) + products * kRunCycles);
        first = std::min(array, memory);
      }
    }
    return cycles + first;
  }

  /// Lines of a product's sums that are read instead of dY's, on average: those in the macro-bank where dY ends.
  std::size_t lines_of_sums_beside(const WeightLayout &l) const {
    const std::size_t all = l.lines.row - l.sums.row, bank = npu_.bank_rows();
    const std::size_t beside = l.apart == Apart::kAll ? 0 : round_up(std::size_t{l.sums.row}, bank) - l.sums.row;
    return l.product_rows(side_, l.block) * std::min(beside, all) / all;
  }

  /// Of an area, from when there is room: a row of a tile is a pixel, of whole beats; memory gives some two thirds of
  /// what the bus could.
  std::uint64_t memory_cycles(const WeightLayout &l, const Cut &cut, std::size_t first, std::size_t bytes) const {
    std::uint64_t of_x = 0, edges = 0;
    for (const WeightPlane &plane : l.planes) {
      const std::uint64_t rows = std::min<std::uint64_t>(l.height, std::uint64_t{plane.height} * cut.images);
      of_x += rows * plane.width;
      if (side_ > 1) edges += rows * (plane.width - (l.whole_end - l.whole));
    }
    const std::uint64_t of_pixel = divide_up(first % npu_.bus_bytes + bytes, npu_.bus_bytes);
    const std::uint64_t beats = lines(cut) * of_pixel + (side_ == 1 ? of_x * of_pixel : beats_side_by_side(of_x));
    return beats * 3 / 2 + edges * kLineCycles + kLatency;
  }
  /// Of so many lines of several pixels, each of which begins somewhere in a beat.
  std::uint64_t beats_side_by_side(std::uint64_t lines) const {
    const std::size_t pixel = pitch_ * 2, from_line_to_line = conv_.stride_width * pixel;
    const std::size_t period = npu_.bus_bytes / std::gcd(from_line_to_line, std::size_t{npu_.bus_bytes});
    std::uint64_t beats = 0;
    for (std::size_t i = 0; i < period; ++i)
      beats += divide_up(i * from_line_to_line % npu_.bus_bytes + side_ * pixel, npu_.bus_bytes);
    return divide_up(lines * beats, period);
  }

  const Convolution &conv_;
  std::size_t pitch_; ///< elements from pixel to pixel
  const NpuConfig &npu_;
  PhasedAxis y_, x_;
  std::size_t side_ = 1;
  std::optional<WeightLayout> best_;
  std::uint64_t least_ = 0;
};

} // namespace

std::optional<WeightLayout> choose_weight_layout(const DepthwiseWork &work, const NpuConfig &npu) {
  return WeightLayouts(work, npu).choose();
}

} // namespace gradweave::compiler::depthwise
