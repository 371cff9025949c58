// Windows of pooling by rows of taps: walks for all pixels that have some taps, whatever others their windows have.
// With wide padding these are far fewer walks than rectangles of pixels whose windows are alike.
#pragma once

#include "graph/operators/loops/lines.hpp"
#include "graph/operators/pool/window_walk.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// Spans of the taps in [tap, end) alone: those that are alike then are one, and those without are left out.
std::vector<OutputSpan> of_taps(const std::vector<OutputSpan> &spans, std::size_t tap, std::size_t end);
std::vector<InputSpan> of_taps(const std::vector<InputSpan> &spans, std::size_t tap, std::size_t end,
                               std::uint32_t stride);

/// Whether rectangles of two spans each have more than `many` taps, and many times those of a window.
template <typename Spans>
bool go_by_taps(const Convolution &v, const Spans &rows, const Spans &cols, std::size_t many = 0) {
  constexpr std::size_t kTimes = 8; // walks by taps go over the sums more often
  const std::size_t taps = taps_of(rows) * taps_of(cols);
  return taps > many && taps > kTimes * v.kernel_height * v.kernel_width;
}

/// The same number in all of an operand.
template <class A> void fill(Kernel<A> &k, LineWalk walk, const WalkOperand &to, double value) {
  walk.out = {to};
  walk_lines(k, walk, 1,
             [value](auto &lines) { lines.loop([value](const auto &at) { at.out(0, number<A>(value)); }); });
}

/// Sums over the windows that each pixel of the image lies in, ascending: calls add(rows, columns) for spans of which
/// each pixel has up to `most` windows, of one row, and which adds these to `sums`; then they are output 0.
template <class A, typename Add>
void sum_by_taps(Kernel<A> &k, const Convolution &v, const WalkValue &sums, std::size_t most, Add add) {
  const WindowWalk pixels(v);
  const auto for_phases = [&](const auto &visit) { // pixels of the image a stride apart
    for (std::size_t row = 0; row < std::min(v.stride_height, v.height); ++row)
      for (std::size_t col = 0; col < std::min(v.stride_width, v.width); ++col)
        visit(row, col,
              pixels.walk((v.height - row - 1) / v.stride_height + 1, (v.width - col - 1) / v.stride_width + 1));
  };
  for_phases([&](std::size_t row, std::size_t col, const LineWalk &walk) {
    fill(k, walk, pixels.of_image(sums, row, col), 0);
  });
  const auto rows = input_spans(v.out_height(), v.height, v.kernel_height, v.stride_height, v.pad_top);
  const auto cols = input_spans(v.out_width(), v.width, v.kernel_width, v.stride_width, v.pad_left);
  const std::size_t apart = most * v.stride_width;
  for (std::size_t r = v.kernel_height; r-- > 0;) // the later the tap, the earlier the window
    for (std::size_t end = v.kernel_width, tap = 0; end > 0; end = tap) {
      tap = end - std::min(end, apart);
      for (const InputSpan &row : of_taps(rows, r, r + 1, v.stride_height))
        for (const InputSpan &col : of_taps(cols, tap, end, v.stride_width))
          add(row, col);
    }
  for_phases([&](std::size_t row, std::size_t col, LineWalk walk) {
    walk.in = {pixels.of_image(sums, row, col)};
    walk.out = {pixels.of_image(output(0), row, col)};
    walk_lines(k, walk, 1, [](auto &lines) { lines.loop([](const auto &at) { at.out(0, at.in(0)); }); });
  });
}

} // namespace gradweave::graph
