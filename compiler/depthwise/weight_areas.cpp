// dW: chains along the pixels, a channel a lane.
#include "compiler/depthwise/plans.hpp"
#include "compiler/depthwise/programs.hpp"
#include "compiler/depthwise/weight_layout.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

using isa::VectorTile;

enum WeightValue : std::size_t { kWeightImage, kWeightGradient, kWeightResult };

/// The programs, by their numbers in the plan.
struct WeightPrograms {
  static constexpr std::size_t kZeros = 0, kCopy = 1, kTaps = 2; ///< kTaps + count - 1

  static std::vector<isa::vector::Words> all() {
    std::vector<isa::vector::Words> words{encode(zeros()), encode(copies())};
    for (unsigned n = 1; n <= kMostTaps; ++n)
      words.push_back(encode(weight_taps(n)));
    return words;
  }
};

/// Pixels from `first` up to but not with `end`.
struct PlaneRange {
  std::int32_t first = 0, end = 0;
  std::size_t size() const { return first < end ? static_cast<std::size_t>(end - first) : 0; }
};

/// Rows of the result in an image, and channels.
struct WeightArea {
  std::size_t image = 0, row = 0, rows = 1, channel = 0, channels = 1;
};

class WeightAreaWriter {
public:
  WeightAreaWriter(const DepthwiseWork &work, const WeightLayout &layout, const NpuConfig &npu, const WeightArea &area)
      : conv_(work.conv), pitch_(work.pixel_pitch()), layout_(layout), lanes_(npu.lanes()), at_(area),
        top_(static_cast<std::int32_t>(area.row * conv_.stride_height) - static_cast<std::int32_t>(conv_.pad_top)),
        height_(layout.height - (layout.rows - area.rows) * conv_.stride_height) {}

  /// `clears`: the place may have anything around the rows of images.
  Area run(bool clears, bool begins, bool ends) {
    if (begins) clear_sums();
    for (std::uint32_t p = 0; p < conv_.stride_width; ++p)
      if (is_read(p)) read_plane(p, clears);
    read_gradient();
    for (std::size_t row = 0; row < at_.rows; ++row)
      for (std::size_t ky = 0; ky < conv_.kernel_height; ky += layout_.kernel_rows(conv_))
        for (std::size_t kx = 0; kx < conv_.kernel_width; kx += kMostTaps)
          step_row(row, ky, kx);
    if (ends) store();
    return std::move(area_);
  }

private:
  VectorTile part(const PlaceTile &tile, const Part &at, std::uint32_t slot) const {
    return window(tile, at, slot, lanes_);
  }

  AreaRun &add_run(std::size_t program, std::size_t elements, std::size_t steps, std::vector<VectorTile> tiles) {
    area_.runs.push_back(
        {program, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(steps), std::move(tiles), {}});
    return area_.runs.back();
  }

  std::size_t taps() const { return std::size_t{conv_.kernel_height} * conv_.kernel_width; }
  std::int32_t stride() const { return static_cast<std::int32_t>(conv_.stride_width); }
  std::int32_t offset(std::size_t kx) const {
    return static_cast<std::int32_t>(kx * conv_.dilation_width) - static_cast<std::int32_t>(conv_.pad_left);
  }
  std::int32_t phase_of(std::int32_t col) const { return col - floor_div(col, stride()) * stride(); }
  bool is_read(std::uint32_t p) const {
    for (std::size_t kx = 0; kx < conv_.kernel_width; ++kx)
      if (phase_of(offset(kx)) == static_cast<std::int32_t>(p)) return true;
    return false;
  }

  void clear_sums() {
    const std::size_t lines = taps() * layout_.panels;
    add_run(WeightPrograms::kZeros, lanes_, lines, {}).state = {
        part(layout_.sums, {0, 0, lines, lanes_}, isa::kOperandSlots)};
  }

  /// The sums of a tap and, if they are lanes, those of the same column in the kernel's rows below.
  VectorTile sums_of(std::size_t ky, std::size_t kx, std::uint32_t slot) const {
    const std::size_t lines = layout_.panels == 1 ? conv_.kernel_height : layout_.panels;
    const std::size_t line = layout_.panels == 1 ? kx * lines + ky : (ky * conv_.kernel_width + kx) * lines;
    VectorTile v = part(layout_.sums, {line, 0, 1, elements()}, slot);
    v.spm.rot = 0; // whichever the line
    return v;
  }
  /// Lanes of a run, with what is between the panels.
  std::size_t elements() const { return (layout_.kernel_rows(conv_) - 1) * lanes_ + at_.channels; }

  void read_plane(std::uint32_t p, bool clears) {
    const auto phase = static_cast<std::int32_t>(p), height = static_cast<std::int32_t>(conv_.height);
    const PlaneRange all{layout_.first_col, layout_.first_col + static_cast<std::int32_t>(layout_.width)};
    const PlaneRange cols{
        std::max(all.first, 0),
        std::min(all.end, (static_cast<std::int32_t>(conv_.width) - phase + stride() - 1) / stride())};
    const auto rows = static_cast<std::int32_t>(height_);
    const std::int32_t begin = std::clamp(-top_, 0, rows), end = std::clamp(height - top_, begin, rows);
    const auto row_of = [&](std::int32_t row, std::int32_t col) {
      return static_cast<std::size_t>(row) * layout_.width + static_cast<std::size_t>(col - all.first);
    };
    for (std::int32_t row = begin; row < end && cols.size() != 0; ++row)
      area_.loaded.push_back(image_row(p, row, cols));
    if (cols.size() == 0) {
      clear(p, row_of(0, all.first), row_of(rows, all.first));
      return;
    }
    clear(p, row_of(0, all.first), row_of(begin, all.first));
    clear(p, row_of(end, all.first), row_of(rows, all.first));
    if (!clears) return;
    for (std::int32_t row = 0; row < static_cast<std::int32_t>(layout_.height); ++row) {
      clear(p, row_of(row, all.first), row_of(row, cols.first));
      clear(p, row_of(row, cols.end), row_of(row + 1, all.first));
    }
  }

  AreaTile image_row(std::uint32_t p, std::int32_t row, const PlaneRange &cols) const {
    AreaTile t;
    t.value = kWeightImage;
    t.first = ((at_.image * conv_.height + static_cast<std::size_t>(top_ + row)) * conv_.width +
               static_cast<std::size_t>(cols.first * stride()) + p) *
                  pitch_ +
              at_.channel;
    t.pitch = conv_.stride_width * pitch_;
    t.rows = static_cast<std::uint32_t>(cols.size());
    t.cols = static_cast<std::uint32_t>(at_.channels);
    const auto col = static_cast<std::size_t>(cols.first - layout_.first_col);
    t.spm = transfer_tile(layout_.planes[p], static_cast<std::size_t>(row) * layout_.width + col, 0, lanes_);
    t.spm.rot = static_cast<std::uint8_t>(col % lanes_);
    return t;
  }

  /// Rows of a plane, all lanes of all panels: rows of the image begin in lanes of their own.
  void clear(std::uint32_t p, std::size_t begin, std::size_t end) {
    if (end <= begin) return;
    const Part at{begin, 0, end - begin, layout_.panels * lanes_};
    add_run(WeightPrograms::kZeros, at.cols, at.rows, {part(layout_.planes[p], at, isa::kOperandSlots)});
  }

  void read_gradient() {
    const std::size_t copies = layout_.kernel_rows(conv_);
    for (std::size_t copy = 0; copy < copies; ++copy) {
      AreaTile t;
      t.value = kWeightGradient;
      t.first = (at_.image * conv_.out_height() + at_.row) * conv_.out_width() * pitch_ + at_.channel;
      t.pitch = pitch_;
      t.rows = static_cast<std::uint32_t>(at_.rows * conv_.out_width());
      t.cols = static_cast<std::uint32_t>(at_.channels);
      t.spm = transfer_tile(layout_.dy, 0, copy, lanes_);
      area_.loaded.push_back(t);
    }
  }

  /// A row of the result, taps from (ky, kx) on.
  void step_row(std::size_t row, std::size_t ky, std::size_t kx) {
    const auto count = static_cast<unsigned>(std::min<std::size_t>(kMostTaps, conv_.kernel_width - kx));
    const std::size_t width = conv_.out_width(), lanes = elements();
    std::vector<VectorTile> tiles, sums;
    for (unsigned i = 0; i < count; ++i) {
      const std::int32_t col = offset(kx + i);
      const auto first = static_cast<std::size_t>(floor_div(col, stride()) - layout_.first_col);
      const std::size_t line = row * conv_.stride_height + ky * conv_.dilation_height;
      VectorTile x = part(layout_.planes[static_cast<std::size_t>(phase_of(col))],
                          {line * layout_.width + first, 0, width, lanes}, i);
      x.spm.rot = static_cast<std::uint8_t>(first % lanes_);
      if (layout_.panels == 1) x.spm.pstride = static_cast<std::uint32_t>(conv_.dilation_height * layout_.width);
      tiles.push_back(x);
      sums.push_back(sums_of(ky, kx + i, count + 1 + i));
      sums.push_back(sums_of(ky, kx + i, isa::kOperandSlots + i));
    }
    for (VectorTile &sum : sums)
      sum.same_step = true;
    tiles.push_back(part(layout_.dy, {row * width, 0, width, lanes}, count));
    add_run(WeightPrograms::kTaps + count - 1, lanes, width, std::move(tiles)).state = std::move(sums);
  }

  void store() {
    for (std::size_t ky = 0; ky < conv_.kernel_height; ++ky)
      for (std::size_t kx = 0; kx < conv_.kernel_width; ++kx) {
        VectorTile column =
            part(layout_.result, {0, ky * conv_.kernel_width + kx, at_.channels, 1}, isa::kOperandSlots);
        column.by_col = true;
        VectorTile sums = sums_of(ky, kx, 0);
        sums.cols = static_cast<std::uint32_t>(at_.channels);
        add_run(WeightPrograms::kCopy, at_.channels, 1, {column}).state = {sums};
      }
    AreaTile t;
    t.value = kWeightResult;
    t.first = at_.channel * taps();
    t.pitch = taps();
    t.rows = static_cast<std::uint32_t>(at_.channels);
    t.cols = static_cast<std::uint32_t>(taps());
    t.fp32 = true;
    t.spm = transfer_tile(layout_.result, 0, 0, lanes_);
    area_.stored.push_back(t);
  }

  const Convolution &conv_;
  std::size_t pitch_; ///< elements from pixel to pixel
  const WeightLayout &layout_;
  std::uint32_t lanes_;
  WeightArea at_;
  std::int32_t top_;   ///< the first row of the image that is read
  std::size_t height_; ///< rows that are read
  Area area_;
};

} // namespace

std::optional<AreaPlan> weight_areas(const DepthwiseWork &work, const NpuConfig &npu) {
  const Convolution &conv = work.conv;
  const std::optional<WeightLayout> layout = choose_weight_layout(conv, npu);
  if (!layout) return std::nullopt;
  AreaPlan plan;
  plan.programs = WeightPrograms::all();
  for (std::size_t channel = 0; channel < conv.channels; channel += layout->channels)
    for (std::size_t image = 0; image < conv.batch; ++image)
      for (std::size_t row = 0; row < conv.out_height(); row += layout->rows) {
        const WeightArea area{image, row, std::min(layout->rows, conv.out_height() - row), channel,
                              std::min<std::size_t>(layout->channels, conv.channels - channel)};
        const bool begins = image == 0 && row == 0,
                   ends = image + 1 == conv.batch && row + area.rows == conv.out_height(),
                   clears = plan.areas.size() < 2; // one of each place
        plan.areas.push_back(WeightAreaWriter(work, *layout, npu, area).run(clears, begins, ends));
      }
  return plan;
}

} // namespace gradweave::compiler::depthwise
