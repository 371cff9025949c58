// Windows of pooling as walks: pixels whose windows are alike are steps of one walk, and channels are its lanes.
#pragma once

#include "graph/golden/line_walk.hpp"
#include "graph/operators/pool/pool.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace gradweave::graph {

/// Along one axis: output pixels that follow each other and read the same taps, those in [tap, end_tap); the others
/// are padding.
struct OutputSpan {
  std::size_t first = 0, count = 0, tap = 0, end_tap = 0;

  std::size_t taps() const { return end_tap - tap; }
};
std::vector<OutputSpan> output_spans(std::uint32_t outputs, std::uint32_t inputs, std::uint32_t kernel,
                                     std::uint32_t stride, std::uint32_t pad);

/// Along one axis: input pixels, a stride apart, that output pixels read by the same taps. Of each tap the output pixel
/// that reads the first input pixel; ascending. Spans of pixels that are less than a stride apart are equally long,
/// but for the last ones.
struct InputSpan {
  struct Reader {
    std::size_t output = 0, tap = 0;
  };
  std::size_t first = 0, count = 0;
  std::vector<Reader> readers;

  std::size_t taps() const { return readers.size(); }
};
std::vector<InputSpan> input_spans(std::uint32_t outputs, std::uint32_t inputs, std::uint32_t kernel,
                                   std::uint32_t stride, std::uint32_t pad);

/// Taps of all spans together.
template <typename Spans> std::size_t taps_of(const Spans &spans) {
  std::size_t taps = 0;
  for (const auto &span : spans)
    taps += span.taps();
  return taps;
}

/// Calls visit(rows, columns) for all rectangles of pixels, those of equal size one after the other: their walks may go
/// together.
template <typename Visit>
void for_rectangles(const std::vector<InputSpan> &rows, const std::vector<InputSpan> &cols, Visit visit) {
  std::multimap<std::pair<std::size_t, std::size_t>, std::pair<const InputSpan *, const InputSpan *>> by_size;
  for (const InputSpan &row : rows)
    for (const InputSpan &col : cols)
      by_size.emplace(std::pair{row.count, col.count}, std::pair{&row, &col});
  for (const auto &[size, spans] : by_size)
    visit(*spans.first, *spans.second);
}

inline constexpr std::size_t kTapsOfAWalk = 5; ///< its operands; one that goes on has the sum so far among them

/// Taps in parts that a walk has operands for: calls visit(first tap, their number, whether it is the last part). Once
/// where there is none.
template <typename Visit> void for_tap_parts(std::size_t taps, Visit visit) {
  std::size_t begin = 0;
  do {
    const std::size_t count = std::min(taps - begin, begin == 0 ? kTapsOfAWalk : kTapsOfAWalk - 1);
    visit(begin, count, begin + count == taps);
    begin += count;
  } while (begin < taps);
}

/// Walks over pixels of a pooling. Operands are images, or results; pixels are from the first one on.
class WindowWalk {
public:
  explicit WindowWalk(const Convolution &window) : v_(window) {}

  /// Steps: images, then rows and columns of the span.
  LineWalk walk(std::size_t rows, std::size_t cols) const {
    return {{v_.channels}, {v_.batch, rows, cols}, {}, {}, true};
  }
  /// Pixels of an image, from (row, column) on, a stride apart.
  WalkOperand of_image(const WalkValue &value, std::size_t row, std::size_t col) const {
    const std::size_t channels = v_.channels, line = v_.width * channels;
    return {value,
            {1},
            {v_.height * line, v_.stride_height * line, v_.stride_width * channels},
            row * line + col * channels};
  }
  /// Pixels of a result, from (row, column) on.
  WalkOperand of_result(const WalkValue &value, std::size_t row, std::size_t col) const {
    const std::size_t channels = v_.channels, line = v_.out_width() * channels;
    return {value, {1}, {v_.out_height() * line, line, channels}, row * line + col * channels};
  }

private:
  const Convolution &v_;
};

} // namespace gradweave::graph
