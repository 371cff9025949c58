#include "compiler/depthwise/image_layout.hpp"

#include "compiler/depthwise/part_sizes.hpp"
#include "compiler/depthwise/plans.hpp"
#include "compiler/depthwise/programs.hpp"
#include "compiler/vector_stream/stage/lane_cycles.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler::depthwise {
namespace {

/// Rows of the phase of `axis` that a tap reads, counted in the phase.
std::int32_t least_row(const Axis &axis) { return floor_div(axis.least, static_cast<std::int32_t>(axis.in_stride)); }
std::int32_t most_row(const Axis &axis) { return floor_div(axis.most, static_cast<std::int32_t>(axis.in_stride)); }

/// As many parts of the weights as there are lanes for.
std::size_t most_weight_parts(const ImageWork &work, const NpuConfig &npu) {
  return std::clamp<std::size_t>(npu.lanes() / work.taps, 1, work.channels);
}

ImageLayout image_layout_of(const ImageWork &work, const ImageArea &area, bool by_rows, std::size_t weight_parts,
                            const NpuConfig &npu) {
  const std::uint32_t lanes = npu.lanes();
  const std::size_t c = work.channels;
  ImageLayout l;
  l.area = area;
  l.by_rows = by_rows;
  l.width = ImageLayout::width_of(work, area.cols);
  l.in_width = ImageLayout::span_of(work, area.cols) + static_cast<std::size_t>(work.cols.most - work.cols.least);
  l.in_rows = area.rows + static_cast<std::size_t>(most_row(work.rows) - least_row(work.rows));
  const bool has_all_rows = area.rows == work.rows.positions(), has_all_cols = area.cols == work.cols.positions();
  if (has_all_cols && !has_all_rows) l.kept_rows = l.in_rows - area.rows;
  const std::size_t fresh_cols = work.cols.in_stride * area.cols; // of an area that others hand columns on to
  if (has_all_rows && !has_all_cols && l.in_width > fresh_cols) l.kept_cols = l.in_width - fresh_cols;
  const std::size_t before = std::max(l.kept_cols, static_cast<std::size_t>(std::max(0, -work.cols.least)));
  l.guard = divide_up(before * c, lanes);
  l.copies = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(l.width))));
  const std::size_t lines = by_rows ? work.pairs() : work.taps;
  const std::size_t first =
      ImageLayout::span_of(work, area.cols) + static_cast<std::size_t>(std::max(0, work.cols.most));
  const std::size_t loaded = l.kept_cols > 0 ? std::max(fresh_cols, first) : l.in_width; // columns
  PlaceLayout region(lanes), place(lanes);
  l.spread = region.add(by_rows ? l.in_rows : lines, l.width * c, by_rows);
  if (!by_rows) l.sums = region.add(area.rows, l.width * c, true);
  l.region = static_cast<std::uint32_t>(region.rows());
  for (std::uint32_t q = 0; q < work.rows.in_stride; ++q)
    l.in.push_back(place.add(l.in_rows, l.guard * lanes + loaded * c));
  PlaceLayout first_place = place, second_place = place;
  l.weight_parts = weight_parts;
  l.weights = first_place.add(divide_up(c, l.weight_parts), l.weight_parts * work.taps);
  if (by_rows) l.paired = second_place.add(lines, c, true);
  if (l.width > 1) l.some_copies = second_place.add(lines, l.copies * c, by_rows);
  for (std::uint32_t p = 0; p < work.rows.out_stride; ++p)
    l.out.push_back(place.add(by_rows ? l.in_rows : area.rows, area.cols * work.cols.out_stride * c, work.fp32));
  l.rows = std::max({place.rows(), first_place.rows(), second_place.rows()});
  return l;
}

/// Whether a kernel's rows follow one another in the image, one way or the other, and all strips are results.
bool can_go_by_rows(const ImageWork &work) {
  const Axis &rows = work.rows;
  return (work.is_direct() || work.by_panels) && work.cols.out_stride == 1 && rows.in_stride == 1 &&
         rows.out_stride == 1 && static_cast<std::size_t>(rows.most - rows.least) + 1 == work.kernel_height() &&
         has_image_rows(work.kernel_height(), work.kernel_width);
}

/// Whether each area has steps for all pairs of weights.
bool has_steps(const ImageWork &work, const ImageLayout &l) {
  const std::size_t more = l.in_rows - l.area.rows, last = work.rows.positions() % l.area.rows;
  return l.in_rows >= work.pairs() && (last == 0 || last + more >= work.pairs());
}

/// Whether fields of commands and a place have room.
bool image_fits(const ImageWork &work, const ImageLayout &l, const NpuConfig &npu) {
  const std::size_t longest =
      std::max({l.guard * npu.lanes() + l.in_width * work.channels + npu.lanes(), (l.copies + l.width) * work.channels,
                l.area.cols * work.cols.out_stride * work.channels + npu.lanes()});
  if (l.by_rows && !has_steps(work, l)) return false;
  if (l.area.rows < work.row_step && l.area.rows < work.rows.positions()) return false; // each stores something
  if (work.by_panels) {
    const std::size_t apart = work.channels / npu.lanes() * std::max(work.cols.in_stride, work.cols.out_stride);
    const std::size_t panel = std::max(l.in.front().pstride, l.out.front().pstride);
    if (std::max(apart * panel, work.channels / npu.lanes() * l.spread.pstride) > kMostInField) return false;
  }
  return longest <= kMostInField && l.in_rows <= kMostInField && l.region <= npu.spm_rows() &&
         l.rows <= place_rows(npu, l.region);
}

/// Cycles of an area's runs that hand rows on, nearly.
std::uint64_t keep_cycles(const ImageWork &work, const ImageLayout &l, const NpuConfig &npu) {
  if (l.kept_rows + l.kept_cols == 0) return 0;
  const std::size_t cols = l.kept_rows > 0 ? l.in_width : l.kept_cols;
  const LaneShape shape{divide_up(cols * work.channels, npu.lanes()), l.kept_rows > 0 ? l.kept_rows : l.in_rows};
  return l.in.size() * (kRunCycles + lane_cycles(copies(), shape, npu));
}

/// Cycles of an area's runs that compute, and of its transfers, nearly.
std::uint64_t run_cycles(const ImageWork &work, const ImageLayout &l, const NpuConfig &npu) {
  const std::size_t runs = work.by_panels ? work.channels / npu.lanes() : 1;
  const std::size_t strips = divide_up(l.width * work.channels, npu.lanes()) / runs;
  if (l.by_rows)
    return runs * (kRunCycles + lane_cycles(image_rows(static_cast<unsigned>(work.kernel_height()), work.kernel_width),
                                            {strips, l.in_rows}, npu));
  const LaneShape shape{strips, l.area.rows};
  std::uint64_t cycles = 0;
  for (const AxisPhase &r : work.rows.phases)
    for (const AxisPhase &c : work.cols.phases) {
      const std::size_t taps = r.taps.size() * c.taps.size();
      for (std::size_t t = 0; t < taps; t += kMostTaps)
        cycles +=
            runs * (kRunCycles +
                    lane_cycles(image_taps(static_cast<unsigned>(std::min<std::size_t>(kMostTaps, taps - t)), t != 0),
                                shape, npu));
      if (!work.is_direct() && !work.by_panels)
        cycles += l.area.cols *
                  (kRunCycles + lane_cycles(copies(), {divide_up(work.channels, npu.lanes()), l.area.rows}, npu));
    }
  return cycles;
}

std::uint64_t bus_cycles(const ImageWork &work, const ImageLayout &l, const NpuConfig &npu) {
  const std::size_t in = (l.in_rows - l.kept_rows) * (l.in_width - l.kept_cols) * l.in.size() * 2;
  const std::size_t out =
      l.area.rows * l.area.cols * work.cols.out_stride * l.out.size() * (work.fp32 ? 4 : 2) / work.row_step;
  return (in + out) * work.channels * 8 / (5 * npu.bus_bytes); // memory gives some five eighths of what the bus could
}

AxisShape rows_of(const Convolution &c) {
  return {c.height, c.out_height(), c.kernel_height, c.stride_height, c.pad_top, c.dilation_height};
}
AxisShape cols_of(const Convolution &c) {
  return {c.width, c.out_width(), c.kernel_width, c.stride_width, c.pad_left, c.dilation_width};
}

ImageWork image_work(const DepthwiseWork &work) {
  const Convolution &conv = work.conv;
  const auto axis = work.product == DepthwiseProduct::kY ? forward_axis : transposed_axis;
  ImageWork image;
  image.rows = axis(rows_of(conv));
  image.cols = axis(cols_of(conv));
  image.batch = conv.batch;
  image.channels = work.pixel_pitch();
  image.kernels = conv.channels;
  image.taps = std::size_t{conv.kernel_height} * conv.kernel_width;
  image.kernel_width = conv.kernel_width;
  image.fp32 = work.fp32;
  return image;
}

/// The same with results of all rows, those that a stride leaves out among them.
ImageWork with_all_rows(const ImageWork &work, const AxisShape &rows) {
  ImageWork all = work;
  all.row_step = rows.stride;
  all.rows = forward_axis({rows.image, (rows.result - 1) * rows.stride + 1, rows.kernel, 1, rows.pad, rows.dilation});
  return all;
}

/// The layout of the areas that take the least time, nearly, of those by rows only or of others only.
std::optional<ImageLayout> choose(const ImageWork &work, bool by_rows, const NpuConfig &npu) {
  if (by_rows && !can_go_by_rows(work)) return std::nullopt;
  std::optional<ImageLayout> best;
  for (const std::size_t cols : part_sizes(work.cols.positions()))
    for (const std::size_t rows : part_sizes(work.rows.positions())) {
      ImageLayout layout = image_layout_of(work, {rows, cols}, by_rows, 1, npu);
      if (!image_fits(work, layout, npu)) // parts take runs of their own
        layout = image_layout_of(work, {rows, cols}, by_rows, most_weight_parts(work, npu), npu);
      if (!image_fits(work, layout, npu)) continue;
      const std::uint64_t areas =
          work.batch * divide_up(work.rows.positions(), rows) * divide_up(work.cols.positions(), cols);
      const std::uint64_t runs = run_cycles(work, layout, npu) + keep_cycles(work, layout, npu);
      const std::uint64_t bus = bus_cycles(work, layout, npu);
      layout.cycles = areas * std::max(runs, bus) + std::min(runs, bus);
      if (!best || layout.cycles < best->cycles) best = std::move(layout);
    }
  if (best) best->work = work;
  return best;
}

} // namespace

std::optional<ImageLayout> choose_image_layout(const DepthwiseWork &work, const NpuConfig &npu) {
  const AxisShape rows = rows_of(work.conv);
  ImageWork image = image_work(work);
  std::optional<ImageLayout> best = choose(image, false, npu);
  const auto take = [&](const ImageWork &other, bool by_rows) {
    std::optional<ImageLayout> layout = choose(other, by_rows, npu);
    if (layout && (!best || layout->cycles < best->cycles)) best = std::move(layout);
  };
  take(image, true);
  if (!image.is_direct() && image.channels % npu.lanes() == 0) {
    image.by_panels = true;
    take(image, false);
  }
  if (work.product == DepthwiseProduct::kY && rows.stride > 1) take(with_all_rows(image, rows), true);
  return best;
}

} // namespace gradweave::compiler::depthwise
