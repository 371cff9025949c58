// MaxPool and its gradient.
#include "graph/operators/pool/tap_walk.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kTapsWork = 6; ///< operations for an element of a window

struct Tap {
  std::size_t row = 0, col = 0; ///< of the image, that the first pixel reads
  std::size_t number = 0;       ///< in its window
};

struct OutputSpans {
  std::vector<OutputSpan> rows, cols;

  explicit OutputSpans(const Convolution &v)
      : rows(output_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top)),
        cols(output_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left)) {}
};

/// Calls visit(rows, columns, taps) for rectangles of output pixels whose windows have the same taps: two spans, and
/// the taps ascending.
template <typename Visit> void for_output_spans(const Convolution &v, Visit visit) {
  const OutputSpans spans(v);
  for (const OutputSpan &rows : spans.rows)
    for (const OutputSpan &cols : spans.cols) {
      std::vector<Tap> taps;
      for (std::size_t r = rows.tap; r < rows.end_tap; ++r)
        for (std::size_t c = cols.tap; c < cols.end_tap; ++c)
          taps.push_back({rows.first * v.stride_height + r - v.pad_top, cols.first * v.stride_width + c - v.pad_left,
                          r * v.kernel_width + c});
      visit(rows, cols, taps);
    }
}

/// Whether the largest of each row of a window come first, then the largest of these: the first row that has the
/// largest has the first of them. With wide padding there are many spans, and every two of them are a rectangle. A
/// stride makes them few.
bool go_by_axis(const Convolution &v) {
  constexpr std::size_t kTimes = 4; // fewer walks, nearly
  const OutputSpans spans(v);
  const std::size_t high = taps_of(spans.rows), wide = taps_of(spans.cols);
  return v.stride_height == 1 && v.stride_width == 1 && high * wide > kTimes * (high + wide);
}

/// Windows of a row each, which give an image of as many rows.
Convolution rows_of_windows(Convolution v) {
  v.kernel_height = 1;
  v.pad_top = v.pad_bottom = 0;
  return v;
}

/// Windows of a column each in what these give.
Convolution columns_of_rows(Convolution v) {
  v.width = v.out_width();
  v.kernel_width = 1;
  v.pad_left = v.pad_right = 0;
  return v;
}

/// The first NaN wins, else the first of the largest: x takes the place of what is the largest so far, as `next` of
/// `now`.
template <class A, class V> V larger_of(const V &largest, const V &x, const V &now, const V &next) {
  return A::select(A::eq(largest, largest), A::select(A::le(x, largest), now, next), now);
}

struct MaxPoolRun {
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(0));
    const WalkValue largest = k.temporary(k.out_shape(0).elements());
    if (!go_by_axis(v)) return take_windows(k, v, input(0), largest, output(0));
    const Convolution rows = rows_of_windows(v);
    const WalkValue of_rows = k.temporary(result_shape(rows).elements());
    take_windows(k, rows, input(0), of_rows, of_rows);
    take_windows(k, columns_of_rows(v), of_rows, largest, output(0));
  }

private:
  template <class A>
  static void take_windows(Kernel<A> &k, const Convolution &v, const WalkValue &image, const WalkValue &so_far,
                           const WalkValue &result) {
    const WindowWalk pixels(v);
    for_output_spans(v, [&](const OutputSpan &rows, const OutputSpan &cols, const std::vector<Tap> &taps) {
      std::vector<WalkOperand> operands;
      for (const Tap &tap : taps)
        operands.push_back(pixels.of_image(image, tap.row, tap.col));
      take_largest(k, pixels.walk(rows.count, cols.count), operands, pixels.of_result(so_far, rows.first, cols.first),
                   pixels.of_result(result, rows.first, cols.first));
    });
  }

  /// As many taps at a time as a walk has operands, with the largest so far between.
  template <class A>
  static void take_largest(Kernel<A> &k, const LineWalk &pixels, const std::vector<WalkOperand> &taps,
                           const WalkOperand &so_far, const WalkOperand &result) {
    for (std::size_t begin = 0, end = 0; begin < taps.size(); begin = end) {
      end = std::min(taps.size(), begin + (begin == 0 ? 5 : 4));
      LineWalk walk = pixels;
      if (begin > 0) walk.in.push_back(so_far);
      for (std::size_t t = begin; t < end; ++t)
        walk.in.push_back(taps[t]);
      const bool last = end == taps.size();
      walk.out = {last ? result : so_far};
      const std::size_t operands = walk.in.size();
      walk_lines(k, walk, kTapsWork * operands, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto most = at.in(0);
          for (std::size_t i = 1; i < operands; ++i)
            most = larger_of<A>(most, at.in(i), most, at.in(i));
          at.out(0, last ? A::quiet(most) : most);
        });
      });
    }
  }
};

struct MaxPoolGradientRun {
  /// Inputs: dY and X, in which the largest are looked for again: which tap of its window each result comes from.
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(1));
    const std::size_t results = k.in_shape(0).elements();
    const WalkValue largest = k.temporary(results), chosen = k.temporary(results);
    find_all_taps(k, v, largest, chosen);
    const WalkValue sums = k.temporary(k.in_shape(1).elements());
    const auto rows = input_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top);
    const auto cols = input_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left);
    const bool by_taps = go_by_taps(v, rows, cols);
    const auto add = [&](const InputSpan &row, const InputSpan &col) {
      add_windows(k, v, row, col, chosen, sums, !by_taps);
    };
    if (by_taps)
      sum_by_taps(k, v, sums, 2, add);
    else
      for_rectangles(rows, cols, add);
  }

private:
  /// The largest so far, and which tap it is.
  struct Found {
    WalkOperand most, tap;
  };

  template <class A>
  static void find_all_taps(Kernel<A> &k, const Convolution &v, const WalkValue &largest, const WalkValue &chosen) {
    if (!go_by_axis(v)) return find_in_windows(k, v, largest, chosen, false);
    const Convolution rows = rows_of_windows(v), columns = columns_of_rows(v);
    const std::size_t elements = result_shape(rows).elements();
    const WalkValue most = k.temporary(elements), tap = k.temporary(elements);
    find_in_windows(k, rows, most, tap, true);
    const WindowWalk pixels(columns);
    for_output_spans(columns, [&](const OutputSpan &row, const OutputSpan &col, const std::vector<Tap> &taps) {
      std::vector<Found> found;
      for (const Tap &t : taps)
        found.push_back({pixels.of_image(most, t.row, t.col), pixels.of_image(tap, t.row, t.col)});
      find_rows(k, v, pixels.walk(row.count, col.count), taps, found,
                {pixels.of_result(largest, row.first, col.first), pixels.of_result(chosen, row.first, col.first)});
    });
  }

  template <class A>
  static void find_in_windows(Kernel<A> &k, const Convolution &v, const WalkValue &largest, const WalkValue &chosen,
                              bool is_read) {
    const WindowWalk pixels(v);
    for_output_spans(v, [&](const OutputSpan &rows, const OutputSpan &cols, const std::vector<Tap> &taps) {
      find_taps(k, v, pixels.walk(rows.count, cols.count), taps,
                {pixels.of_result(largest, rows.first, cols.first), pixels.of_result(chosen, rows.first, cols.first)},
                is_read);
    });
  }

  /// `is_read`: the largest of all is wanted, too.
  template <class A>
  static void find_taps(Kernel<A> &k, const Convolution &v, const LineWalk &pixels, const std::vector<Tap> &taps,
                        const Found &found, bool is_read) {
    for (std::size_t begin = 0, end = 0; begin < taps.size(); begin = end) {
      end = std::min(taps.size(), begin + (begin == 0 ? 5 : 3));
      LineWalk walk = pixels;
      for (std::size_t t = begin; t < end; ++t)
        walk.in.push_back(WindowWalk(v).of_image(input(1), taps[t].row, taps[t].col));
      const bool goes_on = begin > 0, last = end == taps.size() && !is_read;
      if (goes_on) walk.in.insert(walk.in.end(), {found.most, found.tap});
      walk.out = {found.tap};
      if (!last) walk.out.push_back(found.most);
      const std::size_t count = end - begin;
      std::array<double, 5> numbers{};
      for (std::size_t t = begin; t < end; ++t)
        numbers[t - begin] = static_cast<double>(taps[t].number);
      walk_lines(k, walk, kTapsWork * count, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto most = goes_on ? at.in(count) : at.in(0);
          auto tap = goes_on ? at.in(count + 1) : number<A>(numbers[0]);
          for (std::size_t i = goes_on ? 0 : 1; i < count; ++i) {
            tap = larger_of<A>(most, at.in(i), tap, number<A>(numbers[i]));
            if (!last || i + 1 < count)
              most = A::max(most, at.in(i)); // it is compared alone: which 0 it is is no matter
          }
          if (!last) at.out(1, most);
          at.out(0, tap);
        });
      });
    }
  }

  /// The first of the largest of rows, each of which is found: two rows, then one at a time.
  template <class A>
  static void find_rows(Kernel<A> &k, const Convolution &v, const LineWalk &pixels, const std::vector<Tap> &taps,
                        const std::vector<Found> &rows, const Found &found) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      end = std::min(rows.size(), begin + (begin == 0 ? 2 : 1));
      const bool goes_on = begin > 0, last = end == rows.size();
      const std::size_t count = end - begin;
      LineWalk walk = pixels;
      std::array<double, 2> numbers{};
      for (std::size_t r = begin; r < end; ++r) {
        walk.in.insert(walk.in.end(), {rows[r].most, rows[r].tap});
        numbers[r - begin] = static_cast<double>(taps[r].number * v.kernel_width);
      }
      if (goes_on) walk.in.insert(walk.in.end(), {found.most, found.tap});
      walk.out = {found.tap};
      if (!last) walk.out.push_back(found.most);
      walk_lines(k, walk, kTapsWork * count, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          const auto tap_of = [&](std::size_t r) { return A::add(at.in(2 * r + 1), number<A>(numbers[r])); };
          const std::size_t first = goes_on ? count : 0;
          auto most = at.in(2 * first);
          auto tap = goes_on ? at.in(2 * first + 1) : tap_of(0);
          for (std::size_t r = goes_on ? 0 : 1; r < count; ++r) {
            tap = larger_of<A>(most, at.in(2 * r), tap, tap_of(r));
            if (!last || r + 1 < count) most = A::max(most, at.in(2 * r));
          }
          if (!last) at.out(1, most);
          at.out(0, tap);
        });
      });
    }
  }

  /// Two windows at a time: dY of each where its tap is this pixel. `all`: there are no others before and behind.
  template <class A>
  static void add_windows(Kernel<A> &k, const Convolution &v, const InputSpan &rows, const InputSpan &cols,
                          const WalkValue &chosen, const WalkValue &sums, bool all) {
    struct Window {
      std::size_t row, col, tap;
    };
    std::vector<Window> windows;
    for (const InputSpan::Reader &row : rows.readers)
      for (const InputSpan::Reader &col : cols.readers)
        windows.push_back({row.output, col.output, row.tap * v.kernel_width + col.tap});
    const WindowWalk pixels(v);
    std::size_t begin = 0;
    do { // once where there is no window
      const std::size_t count = std::min<std::size_t>(2, windows.size() - begin);
      LineWalk walk = pixels.walk(rows.count, cols.count);
      std::array<double, 2> taps{};
      for (std::size_t w = 0; w < count; ++w) {
        const Window &window = windows[begin + w];
        walk.in.push_back(pixels.of_result(chosen, window.row, window.col));
        walk.in.push_back(pixels.of_result(input(0), window.row, window.col));
        taps[w] = static_cast<double>(window.tap);
      }
      const bool goes_on = begin > 0 || !all;
      if (goes_on) walk.in.push_back(pixels.of_image(sums, rows.first, cols.first));
      begin += count;
      const bool last = begin == windows.size() && all;
      walk.out = {pixels.of_image(last ? output(0) : sums, rows.first, cols.first)};
      walk_lines(k, walk, 3, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto sum = goes_on ? at.in(2 * count) : number<A>(0);
          for (std::size_t w = 0; w < count; ++w)
            sum = A::select(A::eq(at.in(2 * w), number<A>(taps[w])), A::add(sum, at.in(2 * w + 1)), sum);
          at.out(0, sum);
        });
      });
    } while (begin < windows.size());
  }
};

void infer_max_pool_gradient(Inference &op) {
  const Convolution window = checked_pool_window(op, op.shape(1));
  require_result(op, window, op.shape(0));
  op.set(0, op.shape(1));
}

void derive_max_pool(Derivation &d) {
  d.give(0, d.build.add("MaxPoolGradient", {d.gradient(), d.input(0)}, d.attributes(), d.name(0)));
}

} // namespace

std::vector<Operator> max_pool_operators() {
  Operator pool;
  pool.name = "MaxPool";
  pool.summary = "the largest element of each window, padding left out";
  pool.inputs = {{"x"}};
  pool.outputs = {{"y"}};
  pool.attributes = pool_attributes();
  pool.infer = infer_pool;
  pool.derive = derive_max_pool;
  pool.operations = pool_operations;
  pool.lower = walks<Walk::kWindow>;
  executes<MaxPoolRun>(pool);

  Operator gradient;
  gradient.name = "MaxPoolGradient";
  gradient.summary = "for each element, the sum of dy over the windows whose first largest it is";
  gradient.inputs = {{"dy"}, {"x"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = pool_attributes();
  gradient.infer = infer_max_pool_gradient;
  gradient.operations = pool_operations;
  gradient.lower = walks<Walk::kWindow>;
  executes<MaxPoolGradientRun>(gradient);
  return {pool, gradient};
}

} // namespace gradweave::graph
