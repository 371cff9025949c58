// MaxPool and its gradient.
#include "graph/operators/loops/lines.hpp"
#include "graph/operators/pool/window_walk.hpp"

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

/// Calls visit(rows, columns, taps) for rectangles of output pixels whose windows have the same taps: two spans, and
/// the taps ascending.
template <typename Visit> void for_output_spans(const Convolution &v, Visit visit) {
  for (const OutputSpan &rows : output_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top))
    for (const OutputSpan &cols : output_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left)) {
      std::vector<Tap> taps;
      for (std::size_t r = rows.tap; r < rows.end_tap; ++r)
        for (std::size_t c = cols.tap; c < cols.end_tap; ++c)
          taps.push_back({rows.first * v.stride_height + r - v.pad_top, cols.first * v.stride_width + c - v.pad_left,
                          r * v.kernel_width + c});
      visit(rows, cols, taps);
    }
}

/// The first NaN wins, else the first of the largest: x takes the place of what is the largest so far, as `next` of
/// `now`.
template <class A, class V> V larger_of(const V &largest, const V &x, const V &now, const V &next) {
  return A::select(A::eq(largest, largest), A::select(A::le(x, largest), now, next), now);
}

struct MaxPoolRun {
  /// As many taps at a time as a walk has operands, with the largest so far between.
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(0));
    const WindowWalk pixels(v);
    const WalkValue largest = k.temporary(k.out_shape(0).elements());
    for_output_spans(v, [&](const OutputSpan &rows, const OutputSpan &cols, const std::vector<Tap> &taps) {
      for (std::size_t begin = 0, end = 0; begin < taps.size(); begin = end) {
        end = std::min(taps.size(), begin + (begin == 0 ? 5 : 4));
        LineWalk walk = pixels.walk(rows.count, cols.count);
        if (begin > 0) walk.in.push_back(pixels.of_result(largest, rows.first, cols.first));
        for (std::size_t t = begin; t < end; ++t)
          walk.in.push_back(pixels.of_image(input(0), taps[t].row, taps[t].col));
        const bool last = end == taps.size();
        walk.out = {pixels.of_result(last ? output(0) : largest, rows.first, cols.first)};
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
    });
  }
};

struct MaxPoolGradientRun {
  /// Inputs: dY and X, in which the largest are looked for again: which tap of its window each result comes from.
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(1));
    const std::size_t results = k.in_shape(0).elements();
    const WalkValue largest = k.temporary(results), chosen = k.temporary(results);
    for_output_spans(v, [&](const OutputSpan &rows, const OutputSpan &cols, const std::vector<Tap> &taps) {
      find_taps(k, v, rows, cols, taps, largest, chosen);
    });
    const WalkValue sums = k.temporary(k.in_shape(1).elements());
    for_rectangles(input_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top),
                   input_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left),
                   [&](const InputSpan &rows, const InputSpan &cols) { add_windows(k, v, rows, cols, chosen, sums); });
  }

private:
  template <class A>
  static void find_taps(Kernel<A> &k, const Convolution &v, const OutputSpan &rows, const OutputSpan &cols,
                        const std::vector<Tap> &taps, const WalkValue &largest, const WalkValue &chosen) {
    const WindowWalk pixels(v);
    for (std::size_t begin = 0, end = 0; begin < taps.size(); begin = end) {
      end = std::min(taps.size(), begin + (begin == 0 ? 5 : 3));
      LineWalk walk = pixels.walk(rows.count, cols.count);
      for (std::size_t t = begin; t < end; ++t)
        walk.in.push_back(pixels.of_image(input(1), taps[t].row, taps[t].col));
      const WalkOperand most_so_far = pixels.of_result(largest, rows.first, cols.first),
                        tap_so_far = pixels.of_result(chosen, rows.first, cols.first);
      const bool goes_on = begin > 0, last = end == taps.size();
      if (goes_on) walk.in.insert(walk.in.end(), {most_so_far, tap_so_far});
      walk.out = {tap_so_far};
      if (!last) walk.out.push_back(most_so_far);
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

  /// Two windows at a time: dY of each where its tap is this pixel.
  template <class A>
  static void add_windows(Kernel<A> &k, const Convolution &v, const InputSpan &rows, const InputSpan &cols,
                          const WalkValue &chosen, const WalkValue &sums) {
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
      const bool goes_on = begin > 0;
      if (goes_on) walk.in.push_back(pixels.of_image(sums, rows.first, cols.first));
      begin += count;
      walk.out = {pixels.of_image(begin == windows.size() ? output(0) : sums, rows.first, cols.first)};
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
