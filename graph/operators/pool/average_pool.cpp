// AveragePool and its gradient.
#include "graph/operators/pool/tap_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kAverageWork = 2; ///< operations of a tap

struct AverageTap {
  std::size_t row = 0, col = 0; ///< of the first pixel that it reads
  double share = 0;             ///< one over the pixels that its window counts
};

bool counts_padding(const Attributes &attributes) { return attributes.integer("count_include_pad") != 0; }

/// So many taps make jobs that are too many for what they do.
constexpr std::size_t kManyTaps = 2048;

struct AveragePoolRun {
  /// As many taps at a time as a walk has operands, with the sum so far between; pixels whose windows have the same
  /// taps are one walk.
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(0));
    const WalkValue sums = k.temporary(k.out_shape(0).elements());
    const auto rows = output_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top);
    const auto cols = output_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left);
    const bool by_taps = go_by_taps(v, rows, cols, kManyTaps);
    if (by_taps) add_taps(k, v, rows, cols, sums);
    for (const OutputSpan &row : rows)
      for (const OutputSpan &col : cols)
        if (by_taps)
          divide(k, v, row, col, sums);
        else
          add_windows(k, v, row, col, sums, true);
  }

private:
  template <class A>
  static void add_taps(Kernel<A> &k, const Convolution &v, const std::vector<OutputSpan> &rows,
                       const std::vector<OutputSpan> &cols, const WalkValue &sums) {
    const WindowWalk pixels(v);
    fill(k, pixels.walk(v.out_height(), v.out_width()), pixels.of_result(sums, 0, 0), 0);
    for (std::size_t r = 0; r < v.kernel_height; ++r)
      for (std::size_t c = 0; c < v.kernel_width; c += kTapsOfAWalk - 1)
        for (const OutputSpan &row : of_taps(rows, r, r + 1))
          for (const OutputSpan &col : of_taps(cols, c, c + kTapsOfAWalk - 1))
            add_windows(k, v, row, col, sums, false);
  }

  /// One over the pixels that a window of the spans counts.
  static double share_of(const Attributes &attributes, const Convolution &v, const OutputSpan &rows,
                         const OutputSpan &cols) {
    const std::size_t all = std::size_t{v.kernel_height} * v.kernel_width, taps = rows.taps() * cols.taps();
    return 1.0 / static_cast<double>(counts_padding(attributes) ? all : taps);
  }

  template <class A>
  static void divide(Kernel<A> &k, const Convolution &v, const OutputSpan &rows, const OutputSpan &cols,
                     const WalkValue &sums) {
    const WindowWalk pixels(v);
    LineWalk walk = pixels.walk(rows.count, cols.count);
    walk.in = {pixels.of_result(sums, rows.first, cols.first)};
    walk.out = {pixels.of_result(output(0), rows.first, cols.first)};
    const auto part = number<A>(share_of(k.attributes(), v, rows, cols));
    walk_lines(k, walk, kAverageWork,
               [=](auto &lines) { lines.loop([=](const auto &at) { at.out(0, A::mul(at.in(0), part)); }); });
  }

  /// `all`: the windows have no taps before and behind.
  template <class A>
  static void add_windows(Kernel<A> &k, const Convolution &v, const OutputSpan &rows, const OutputSpan &cols,
                          const WalkValue &sums, bool all) {
    const WindowWalk pixels(v);
    std::vector<AverageTap> taps;
    for (std::size_t r = rows.tap; r < rows.end_tap; ++r)
      for (std::size_t c = cols.tap; c < cols.end_tap; ++c)
        taps.push_back({rows.first * v.stride_height + r - v.pad_top, cols.first * v.stride_width + c - v.pad_left, 0});
    const auto part = number<A>(share_of(k.attributes(), v, rows, cols));
    for_tap_parts(taps.size(), [&](std::size_t begin, std::size_t count, bool ends) {
      LineWalk walk = pixels.walk(rows.count, cols.count);
      for (std::size_t t = begin; t < begin + count; ++t)
        walk.in.push_back(pixels.of_image(input(0), taps[t].row, taps[t].col));
      const bool goes_on = begin > 0 || !all, last = ends && all;
      if (goes_on) walk.in.push_back(pixels.of_result(sums, rows.first, cols.first));
      walk.out = {pixels.of_result(last ? output(0) : sums, rows.first, cols.first)};
      walk_lines(k, walk, kAverageWork * count, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto sum = A::add(goes_on ? at.in(count) : number<A>(0), at.in(0));
          for (std::size_t t = 1; t < count; ++t)
            sum = A::add(sum, at.in(t));
          at.out(0, last ? A::mul(sum, part) : sum);
        });
      });
    });
  }
};

/// Parts of a span whose readers' windows count as many pixels each, along one axis.
std::vector<InputSpan> alike_spans(const std::vector<InputSpan> &spans, std::uint32_t stride,
                                   const std::vector<std::size_t> &pixels) {
  std::vector<InputSpan> parts;
  for (const InputSpan &span : spans)
    for (std::size_t i = 0; i < span.count; ++i) {
      InputSpan one{span.first + i * stride, 1, span.readers};
      bool same = i > 0;
      for (InputSpan::Reader &reader : one.readers) {
        reader.output += i;
        same = same && pixels[reader.output] == pixels[reader.output - 1];
      }
      if (same)
        ++parts.back().count;
      else
        parts.push_back(std::move(one));
    }
  return parts;
}

/// How many pixels each window counts along one axis.
std::vector<std::size_t> counted_pixels(const std::vector<OutputSpan> &spans) {
  std::vector<std::size_t> pixels;
  for (const OutputSpan &span : spans)
    pixels.insert(pixels.end(), span.count, span.end_tap - span.tap);
  return pixels;
}

struct AveragePoolGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.out_shape(0));
    std::vector<std::size_t> high(v.out_height(), v.kernel_height), wide(v.out_width(), v.kernel_width);
    if (!counts_padding(k.attributes())) {
      high = counted_pixels(output_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top));
      wide = counted_pixels(output_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left));
    }
    const WalkValue sums = k.temporary(k.out_shape(0).elements());
    const auto rows = input_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top);
    const auto cols = input_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left);
    const auto alike_rows = alike_spans(rows, v.stride_height, high),
               alike_cols = alike_spans(cols, v.stride_width, wide);
    if (go_by_taps(v, alike_rows, alike_cols, kManyTaps)) return add_taps(k, v, high, wide, sums);
    for_rectangles(alike_rows, alike_cols, [&](const InputSpan &row, const InputSpan &col) {
      std::vector<AverageTap> windows;
      for (const InputSpan::Reader &r : row.readers)
        for (const InputSpan::Reader &c : col.readers)
          windows.push_back({r.output, c.output, 1.0 / static_cast<double>(high[r.output] * wide[c.output])});
      add_shares(k, v, row, col, windows, sums);
    });
  }

private:
  /// `high`, `wide`: pixels that windows count along each axis. Shares are values as the windows' own, each of some
  /// rows and columns alike.
  template <class A>
  static void add_taps(Kernel<A> &k, const Convolution &v, const std::vector<std::size_t> &high,
                       const std::vector<std::size_t> &wide, const WalkValue &sums) {
    const WindowWalk pixels(v);
    const WalkValue shares = k.temporary(k.in_shape(0).elements());
    for (std::size_t row = 0, end_row = 0; row < high.size(); row = end_row) {
      end_row = end_of_equal(high, row);
      for (std::size_t col = 0, end_col = 0; col < wide.size(); col = end_col) {
        end_col = end_of_equal(wide, col);
        fill(k, pixels.walk(end_row - row, end_col - col), pixels.of_result(shares, row, col),
             1.0 / static_cast<double>(high[row] * wide[col]));
      }
    }
    sum_by_taps(k, v, sums, 2, [&](const InputSpan &row, const InputSpan &col) {
      LineWalk walk = pixels.walk(row.count, col.count);
      for (const InputSpan::Reader &reader : col.readers) {
        walk.in.push_back(pixels.of_result(input(0), row.readers[0].output, reader.output));
        walk.in.push_back(pixels.of_result(shares, row.readers[0].output, reader.output));
      }
      walk.out = {pixels.of_image(sums, row.first, col.first)};
      walk.in.push_back(walk.out[0]);
      const std::size_t count = col.readers.size();
      walk_lines(k, walk, kAverageWork * count, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto sum = at.in(2 * count);
          for (std::size_t w = 0; w < count; ++w)
            sum = A::fma(at.in(2 * w), at.in(2 * w + 1), sum);
          at.out(0, sum);
        });
      });
    });
  }

  /// The first place behind `begin` that has another number.
  static std::size_t end_of_equal(const std::vector<std::size_t> &numbers, std::size_t begin) {
    const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = std::find_if(from, numbers.end(), [from](std::size_t n) { return n != *from; });
    return static_cast<std::size_t>(end - numbers.begin());
  }

  /// Shares of the windows that pixels lie in, ascending, as many at a time as a walk has operands.
  template <class A>
  static void add_shares(Kernel<A> &k, const Convolution &v, const InputSpan &rows, const InputSpan &cols,
                         const std::vector<AverageTap> &windows, const WalkValue &sums) {
    const WindowWalk pixels(v);
    for_tap_parts(windows.size(), [&](std::size_t begin, std::size_t count, bool last) {
      LineWalk walk = pixels.walk(rows.count, cols.count);
      std::array<double, kTapsOfAWalk> shares{};
      for (std::size_t w = 0; w < count; ++w) {
        walk.in.push_back(pixels.of_result(input(0), windows[begin + w].row, windows[begin + w].col));
        shares[w] = windows[begin + w].share;
      }
      const bool goes_on = begin > 0;
      if (goes_on) walk.in.push_back(pixels.of_image(sums, rows.first, cols.first));
      walk.out = {pixels.of_image(last ? output(0) : sums, rows.first, cols.first)};
      walk_lines(k, walk, kAverageWork * std::max<std::size_t>(count, 1), [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto sum = goes_on ? at.in(count) : number<A>(0);
          for (std::size_t w = 0; w < count; ++w)
            sum = A::fma(at.in(w), number<A>(shares[w]), sum);
          at.out(0, sum);
        });
      });
    });
  }
};

void check_count(const Inference &op) {
  const std::int64_t count = op.attributes().integer("count_include_pad");
  op.require(count == 0 || count == 1, fmt::format("attribute 'count_include_pad' = {} must be 0 or 1", count));
}

void infer_average(Inference &op) {
  check_count(op);
  infer_pool(op);
}

void infer_average_gradient(Inference &op) {
  check_count(op);
  require_image(op, "dy", op.shape(0));
  const std::vector<std::uint32_t> image = window_numbers(op, "image", 2, 1);
  const Shape dx{op.shape(0)[0], image[0], image[1], op.shape(0)[3]};
  const Convolution window = checked_pool_window(op, dx);
  require_result(op, window, op.shape(0));
  op.set(0, dx);
}

void derive_average(Derivation &d) {
  Attributes attributes = d.attributes();
  attributes.set("image", std::vector<std::int64_t>{d.shape(0)[1], d.shape(0)[2]});
  d.give(0, d.build.add("AveragePoolGradient", {d.gradient()}, attributes, d.name(0)));
}

std::vector<AttributeSpec> average_attributes() {
  std::vector<AttributeSpec> all = pool_attributes();
  all.push_back({"count_include_pad", AttributeKind::kInteger, std::int64_t{0}, "1: padding counts as pixels of 0"});
  return all;
}

} // namespace

std::vector<Operator> average_pool_operators() {
  Operator pool;
  pool.name = "AveragePool";
  pool.summary = "the mean of each window";
  pool.inputs = {{"x"}};
  pool.outputs = {{"y"}};
  pool.attributes = average_attributes();
  pool.infer = infer_average;
  pool.derive = derive_average;
  pool.operations = pool_operations;
  pool.lower = walks<Walk::kWindow>;
  executes<AveragePoolRun>(pool);

  Operator gradient;
  gradient.name = "AveragePoolGradient";
  gradient.summary = "for each element, the sum of its shares in dy over the windows that it lies in";
  gradient.inputs = {{"dy"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = average_attributes();
  gradient.attributes.push_back({"image", AttributeKind::kIntegers, {}, "[rows, columns] of the image"});
  gradient.infer = infer_average_gradient;
  gradient.operations = pool_operations;
  gradient.lower = walks<Walk::kWindow>;
  executes<AveragePoolGradientRun>(gradient);
  return {pool, gradient};
}

} // namespace gradweave::graph
