// Y and dX: taps are windows of the same tile.
#include "compiler/depthwise/image_layout.hpp"
#include "compiler/depthwise/image_programs.hpp"
#include "compiler/depthwise/image_weights.hpp"
#include "compiler/depthwise/plans.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::depthwise {
namespace {

using isa::VectorTile;

/// Pixels of an axis, from `first` up to but not with `end`.
struct PixelRange {
  std::int32_t first = 0, end = 0;
  std::size_t size() const { return static_cast<std::size_t>(end - first); }
};

PixelRange clipped(PixelRange range, std::int32_t size) {
  const auto inside = [size](std::int32_t at) { return std::clamp(at, 0, size); };
  return {inside(range.first), inside(range.end)};
}

/// A product of two phases' taps.
struct KernelTap {
  std::uint32_t number = 0; ///< of the kernel
  std::int32_t row = 0, col = 0;
};

class ImageAreaWriter {
public:
  /// The `number`-th area of the section.
  ImageAreaWriter(const ImageWork &work, const ImageLayout &layout, const NpuConfig &npu, std::size_t number,
                  std::size_t image, ImageArea first)
      : work_(work), layout_(layout), lanes_(npu.lanes()),
        next_place_(layout.region + (number % 2 == 0 ? place_rows(npu, layout.region) : 0)), image_(image),
        first_(first), size_{std::min(layout.area.rows, work.rows.positions() - first.rows),
                             std::min(layout.area.cols, work.cols.positions() - first.cols)},
        panels_(work.by_panels ? work.channels / lanes_ : 1) {
    read_ = columns_read(first.cols, size_.cols);
    own_ = own_columns(first.cols, size_.cols);
    inside_ = inside_columns(own_);
  }

  /// What comes before is in `area`.
  Area run(Area area) {
    area_ = std::move(area);
    for (std::uint32_t q = 0; q < work_.rows.in_stride; ++q)
      if (is_read(q)) read_rows(q);
    for (std::uint32_t q = 0; q < work_.rows.in_stride; ++q)
      if (is_read(q)) hand_on(q);
    if (layout_.by_rows) {
      compute_by_rows();
      store_by_rows();
      return std::move(area_);
    }
    for (const AxisPhase &rows : work_.rows.phases) {
      for (const AxisPhase &cols : work_.cols.phases)
        compute(rows, cols);
      store(rows);
    }
    return std::move(area_);
  }

private:
  /// Columns that so many positions read, those that are not handed on, and of these those that the image has.
  PixelRange columns_read(std::size_t first, std::size_t cols) const {
    const auto begin = static_cast<std::int32_t>(work_.cols.in_stride * first);
    const auto span = static_cast<std::int32_t>(ImageLayout::span_of(work_, cols));
    return {begin + work_.cols.least, begin + span + work_.cols.most};
  }
  PixelRange own_columns(std::size_t first, std::size_t cols) const {
    const PixelRange read = columns_read(first, cols);
    return {read.first + (first > 0 ? static_cast<std::int32_t>(layout_.kept_cols) : 0), read.end};
  }
  PixelRange inside_columns(const PixelRange &own) const {
    const PixelRange inside = clipped(own, static_cast<std::int32_t>(work_.cols.in));
    return inside.size() == 0 ? PixelRange{own.first, own.first} : inside;
  }

  VectorTile part(const PlaceTile &tile, const Part &at, std::uint32_t slot) const {
    return window(tile, at, slot, lanes_);
  }

  /// What a run takes of pixels, `apart` pixels from one to the next: all that lies there, or by panels
  /// (ImageWork::by_panels()) panel `panel` of each.
  struct Pixels {
    std::size_t panel = 0, apart = 1;
  };
  VectorTile pixels(const PlaceTile &tile, Part at, std::uint32_t slot, const Pixels &of) const {
    const bool by_panels = work_.by_panels;
    if (by_panels) at.col += of.panel * lanes_;
    VectorTile v = part(tile, at, slot);
    if (by_panels) v.spm.pstride *= static_cast<std::uint32_t>(panels_ * of.apart);
    return v;
  }
  /// Elements of a run that computes so many positions.
  std::size_t elements(std::size_t positions) const {
    return work_.by_panels ? positions * lanes_ : ImageLayout::width_of(work_, positions) * work_.channels;
  }

  /// `others`: what is not in the area's place.
  void add_run(std::size_t program, std::size_t elements, std::size_t steps, std::vector<VectorTile> tiles,
               std::vector<VectorTile> others = {}) {
    area_.runs.push_back({program, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(steps),
                          std::move(tiles), std::move(others)});
  }

  bool is_read(std::uint32_t q) const {
    const std::vector<AxisPhase> &phases = work_.rows.phases;
    return std::any_of(phases.begin(), phases.end(), [&](const AxisPhase &phase) {
      return std::any_of(phase.taps.begin(), phase.taps.end(),
                         [&](const AxisTap &tap) { return phase_of(tap.offset) == static_cast<std::int32_t>(q); });
    });
  }
  std::int32_t phase_of(std::int32_t row) const { return row - floor_div(row, in_stride()) * in_stride(); }
  std::int32_t in_stride() const { return static_cast<std::int32_t>(work_.rows.in_stride); }
  /// The first row of a phase that the area reads, counted in the phase.
  std::int32_t first_row() const {
    return static_cast<std::int32_t>(first_.rows) + floor_div(work_.rows.least, in_stride());
  }

  /// Column of a tile of the image that has the pixel, where columns `inside` are loaded.
  std::size_t column(std::int32_t pixel, const PixelRange &inside) const {
    const auto first = static_cast<std::int32_t>(layout_.guard * lanes_);
    const std::int32_t at = first + (pixel - inside.first) * static_cast<std::int32_t>(work_.channels);
    return static_cast<std::size_t>(at);
  }
  std::size_t column(std::int32_t pixel) const { return column(pixel, inside_); }

  /// Rows of a phase that the area reads, counted in the phase.
  PixelRange rows_read() const { return {first_row(), first_row() + static_cast<std::int32_t>(lines())}; }

  /// Rows of phase `q`, with zeros around the image, but for those that the area above hands on.
  void read_rows(std::uint32_t q) {
    const auto in = static_cast<std::int32_t>(work_.rows.in), phase = static_cast<std::int32_t>(q);
    const PixelRange all = rows_read();
    const PixelRange own{all.first + (first_.rows > 0 ? static_cast<std::int32_t>(layout_.kept_rows) : 0), all.end};
    PixelRange rows = clipped(own, (in - phase + in_stride() - 1) / in_stride());
    if (inside_.size() == 0 || rows.end <= rows.first) rows = {own.end, own.end};
    rows.first = std::max(rows.first, own.first);
    rows.end = std::max(rows.end, rows.first);
    if (rows.size() != 0) load_rows(q, all, rows);
    clear(q, all, {own.first, rows.first}, own_);
    clear(q, all, {rows.end, all.end}, own_);
    clear(q, all, rows, {own_.first, inside_.first});
    clear(q, all, rows, {inside_.end, own_.end});
  }

  /// What the next area reads, too, zeros around the image among it: copies in its place. It does not load these rows
  /// or columns, and they were read last by the area before, whose runs are done.
  void hand_on(std::uint32_t q) {
    if (layout_.kept_rows > 0 && first_.rows + size_.rows < work_.rows.positions()) hand_on_rows(q);
    if (layout_.kept_cols > 0 && first_.cols + size_.cols < work_.cols.positions()) hand_on_columns(q);
  }

  void hand_on_rows(std::uint32_t q) {
    const PixelRange all = rows_read(), kept{all.end - static_cast<std::int32_t>(layout_.kept_rows), all.end};
    const std::size_t below = std::min(layout_.area.rows, work_.rows.positions() - first_.rows - size_.rows);
    const PixelRange next{kept.first, kept.end + static_cast<std::int32_t>(below)};
    const std::size_t first = column(read_.first), cols = read_.size() * work_.channels;
    copy_to_next(q, {line_of(all, kept), first, kept.size(), cols}, {line_of(next, kept), first, kept.size(), cols});
  }

  void hand_on_columns(std::uint32_t q) {
    const PixelRange kept{read_.end - static_cast<std::int32_t>(layout_.kept_cols), read_.end};
    const std::size_t right = first_.cols + size_.cols;
    const PixelRange next =
        inside_columns(own_columns(right, std::min(layout_.area.cols, work_.cols.positions() - right)));
    const std::size_t cols = kept.size() * work_.channels;
    copy_to_next(q, {0, column(kept.first), lines(), cols}, {0, column(kept.first, next), lines(), cols});
  }

  void copy_to_next(std::uint32_t q, const Part &from, const Part &to) {
    VectorTile there = part(layout_.in[q], to, isa::kOperandSlots);
    there.spm.row += next_place_;
    add_run(ImagePrograms::kCopies, from.cols, from.rows, {part(layout_.in[q], from, 0)}, {there});
  }

  /// By rows they lie in the order in which the kernel's rows meet them: upside down where its last one is above.
  bool is_turned() const { return layout_.by_rows && work_.rows.phases.front().taps.front().offset > work_.rows.least; }
  std::size_t line_of(const PixelRange &all, const PixelRange &rows) const {
    return static_cast<std::size_t>(is_turned() ? all.end - rows.end : rows.first - all.first);
  }

  void load_rows(std::uint32_t q, const PixelRange &all, const PixelRange &rows) {
    const std::int32_t together = is_turned() ? 1 : rows.end - rows.first;
    for (std::int32_t row = rows.first; row < rows.end; row += together) {
      const std::size_t line = static_cast<std::size_t>(row * in_stride()) + q;
      AreaTile t;
      t.value = kImageRead;
      t.first =
          ((image_ * work_.rows.in + line) * work_.cols.in + static_cast<std::size_t>(inside_.first)) * work_.channels;
      t.pitch = work_.rows.in_stride * work_.in_row();
      t.rows = static_cast<std::uint32_t>(together);
      t.cols = static_cast<std::uint32_t>(inside_.size() * work_.channels);
      t.spm = transfer_tile(layout_.in[q], line_of(all, {row, row + together}), layout_.guard, lanes_);
      area_.loaded.push_back(t);
    }
  }

  void clear(std::uint32_t q, const PixelRange &all, const PixelRange &rows, const PixelRange &cols) {
    if (rows.end <= rows.first || cols.end <= cols.first) return;
    const Part at{line_of(all, rows), column(cols.first), rows.size(), cols.size() * work_.channels};
    add_run(ImagePrograms::kZeros, at.cols, at.rows, {part(layout_.in[q], at, isa::kOperandSlots)});
  }

  /// Rows that the area reads.
  std::size_t lines() const { return layout_.in_rows - layout_.area.rows + size_.rows; }

  void compute_by_rows() {
    const std::size_t all = elements(size_.cols), first = layout_.in_rows - lines(); // weights are the last lines
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      std::vector<VectorTile> tiles;
      for (const AxisTap &tap : work_.cols.phases.front().taps) {
        const std::int32_t pixel = static_cast<std::int32_t>(work_.cols.in_stride * first_.cols) + tap.offset;
        const Part at{0, column(pixel), lines(), all};
        tiles.push_back(pixels(layout_.in.front(), at, tap.tap, {panel, work_.cols.in_stride}));
      }
      tiles.push_back(pixels(layout_.out.front(), {0, 0, lines(), all}, isa::kOperandSlots, {panel}));
      add_run(ImagePrograms::kRows, all, lines(), std::move(tiles),
              {pixels(layout_.spread, {first, 0, lines(), all}, work_.kernel_width, {panel})});
    }
  }

  /// Behind the steps that complete nothing.
  void store_by_rows() {
    const std::size_t step = work_.row_step, begin = round_up(first_.rows, step) - first_.rows;
    const std::size_t together = is_turned() || step > 1 ? 1 : size_.rows;
    for (std::size_t row = begin; row < size_.rows; row += together * step)
      store_rows(0, (first_.rows + row) / step, together, is_turned() ? lines() - 1 - row : lines() - size_.rows + row);
  }

  /// Positions of the area that a phase has.
  static std::size_t positions(const AxisPhase &phase, std::size_t first, std::size_t count) {
    return phase.count <= first ? 0 : std::min<std::size_t>(count, phase.count - first);
  }

  void compute(const AxisPhase &row_phase, const AxisPhase &col_phase) {
    const std::size_t rows = positions(row_phase, first_.rows, size_.rows);
    const std::size_t cols = positions(col_phase, first_.cols, size_.cols);
    if (rows == 0 || cols == 0) return;
    std::vector<KernelTap> taps;
    for (const AxisTap &r : row_phase.taps)
      for (const AxisTap &c : col_phase.taps)
        taps.push_back({r.tap * work_.kernel_width + c.tap, r.offset, c.offset});
    const PlaceTile &out = layout_.out[row_phase.first];
    const bool placed = work_.is_direct() || work_.by_panels; // where they are computed
    const Part sums{0, 0, rows, elements(cols)}, results{0, col_phase.first * work_.channels, rows, sums.cols};
    for (std::size_t panel = 0; panel < panels_; ++panel) {
      const VectorTile sum = pixels(layout_.sums, sums, isa::kOperandSlots, {panel});
      const VectorTile end = pixels(out, results, isa::kOperandSlots, {panel, work_.cols.out_stride});
      for (std::size_t done = 0; done < taps.size(); done += kMostTaps) {
        const bool last = done + kMostTaps >= taps.size();
        step_taps(&taps[done], static_cast<unsigned>(std::min<std::size_t>(kMostTaps, taps.size() - done)), done != 0,
                  last && placed ? end : sum, last && placed, panel);
      }
      if (taps.empty() && placed) add_run(ImagePrograms::kZeros, sums.cols, rows, {end});
      if (taps.empty() && !placed) add_run(ImagePrograms::kZeros, sums.cols, rows, {}, {sum});
    }
    if (!placed) place_columns(col_phase, out, rows, cols);
  }

  /// `placed`: to a result in the place; else to the sums.
  void step_taps(const KernelTap *taps, unsigned count, bool continues, const VectorTile &to, bool placed,
                 std::size_t panel) {
    const Part results{0, 0, to.rows, to.cols};
    std::vector<VectorTile> tiles, others;
    for (unsigned i = 0; i < count; ++i) {
      const KernelTap &tap = taps[i];
      const std::int32_t row = static_cast<std::int32_t>(first_.rows) + floor_div(tap.row, in_stride()) - first_row();
      const std::int32_t col = static_cast<std::int32_t>(work_.cols.in_stride * first_.cols) + tap.col;
      tiles.push_back(pixels(layout_.in[static_cast<std::size_t>(phase_of(tap.row))],
                             {static_cast<std::size_t>(row), column(col), results.rows, results.cols}, i,
                             {panel, work_.cols.in_stride}));
      VectorTile w = pixels(layout_.spread, {tap.number, 0, 1, results.cols}, count + i, {panel});
      w.same_step = true;
      others.push_back(w);
    }
    if (continues) others.push_back(pixels(layout_.sums, results, 2 * count, {panel}));
    (placed ? tiles : others).push_back(to);
    add_run(ImagePrograms::taps(count, continues), results.cols, results.rows, std::move(tiles), std::move(others));
  }

  /// The sums of the columns that are results go where these are, a run each.
  void place_columns(const AxisPhase &phase, const PlaceTile &out, std::size_t rows, std::size_t cols) {
    const std::size_t c = work_.channels;
    for (std::size_t col = 0; col < cols; ++col)
      add_run(ImagePrograms::kCopies, c, rows,
              {part(out, {0, (col * work_.cols.out_stride + phase.first) * c, rows, c}, isa::kOperandSlots)},
              {part(layout_.sums, {0, col * work_.cols.in_stride * c, rows, c}, 0)});
  }

  void store(const AxisPhase &phase) {
    if (const std::size_t rows = positions(phase, first_.rows, size_.rows); rows != 0)
      store_rows(phase.first, first_.rows, rows, 0);
  }

  /// Of phase `p`, from its row `first` on, from line `line` of its tile on.
  void store_rows(std::uint32_t p, std::size_t first, std::size_t rows, std::size_t line) {
    const std::size_t stride = work_.rows.out_stride, begin = first_.cols * work_.cols.out_stride;
    const std::size_t end = std::min<std::size_t>((first_.cols + size_.cols) * work_.cols.out_stride, work_.cols.out);
    AreaTile t;
    t.value = kImageResult;
    t.first = ((image_ * work_.result_rows() + first * stride + p) * work_.cols.out + begin) * work_.channels;
    t.pitch = stride * work_.out_row();
    t.rows = static_cast<std::uint32_t>(rows);
    t.cols = static_cast<std::uint32_t>((end - begin) * work_.channels);
    t.fp32 = work_.fp32;
    t.spm = transfer_tile(layout_.out[p], line, 0, lanes_);
    area_.stored.push_back(t);
  }

  const ImageWork &work_;
  const ImageLayout &layout_;
  std::uint32_t lanes_;
  std::uint32_t next_place_; ///< where the next area's place begins
  std::size_t image_;
  ImageArea first_, size_;
  std::size_t panels_;             ///< runs that each take a panel of every pixel
  PixelRange read_, own_, inside_; ///< columns that are read, those that nothing hands on, and those of the image
  Area area_;
};

} // namespace

std::optional<AreaPlan> image_areas(const DepthwiseWork &work, const NpuConfig &npu) {
  const std::optional<ImageLayout> layout = choose_image_layout(work, npu);
  if (!layout) return std::nullopt;
  const ImageWork &image = layout->work;
  AreaPlan plan;
  plan.programs = ImagePrograms::all(image, *layout);
  plan.region = layout->region;
  for (std::size_t n = 0; n < image.batch; ++n)
    for (std::size_t row = 0; row < image.rows.positions(); row += layout->area.rows)
      for (std::size_t col = 0; col < image.cols.positions(); col += layout->area.cols) {
        Area area;
        if (plan.areas.empty()) spread_weights(image, *layout, npu, area);
        plan.areas.push_back(
            ImageAreaWriter(image, *layout, npu, plan.areas.size(), n, {row, col}).run(std::move(area)));
      }
  return plan;
}

} // namespace gradweave::compiler::depthwise
