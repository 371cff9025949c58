// Resize: an image whose pixels become blocks of equal ones (nearest neighbour, by whole factors), and its gradient.
#include "graph/operators/loops/move_rows.hpp"
#include "graph/operators/pool/window_walk.hpp"

#include <fmt/format.h>

#include <vector>

namespace gradweave::graph {
namespace {

struct Blocks {
  std::size_t height, width, channels; ///< of the small image
  std::size_t rows, cols;              ///< of a block
};

Blocks blocks_of(const Attributes &attributes, const Shape &small) {
  const std::vector<std::int64_t> &scales = attributes.integers("scales");
  return {small[1], small[2], small[3], static_cast<std::size_t>(scales[0]), static_cast<std::size_t>(scales[1])};
}

/// A pixel of each block, its row and column there, of all images one below the other.
WalkOperand pixel_of_blocks(const Blocks &s, const WalkValue &value, std::size_t row, std::size_t col) {
  const std::size_t line = s.width * s.cols * s.channels;
  return {value, {1}, {s.rows * line, s.cols * s.channels}, row * line + col * s.channels};
}
WalkOperand small_pixels(const Blocks &s, const WalkValue &value) {
  return {value, {1}, {s.width * s.channels, s.channels}, 0};
}

struct ResizeRun {
  template <class A> static void run(Kernel<A> &k) {
    const Blocks s = blocks_of(k.attributes(), k.in_shape(0));
    const std::size_t lines = k.in_shape(0)[0] * s.height;
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t c = 0; c < s.cols; ++c)
        move_rows(k, {{lines, s.width}, s.channels, small_pixels(s, input(0)), pixel_of_blocks(s, output(0), r, c)});
  }
};

struct ResizeGradientRun {
  /// As many pixels of the blocks at a time as a walk has operands, with the sum so far between.
  template <class A> static void run(Kernel<A> &k) {
    const Blocks s = blocks_of(k.attributes(), k.out_shape(0));
    const WalkValue sums = k.temporary(k.out_shape(0).elements());
    for_tap_parts(s.rows * s.cols, [&](std::size_t begin, std::size_t count, bool last) {
      LineWalk walk{{s.channels}, {k.out_shape(0)[0] * s.height, s.width}, {}, {}, true};
      for (std::size_t t = begin; t < begin + count; ++t)
        walk.in.push_back(pixel_of_blocks(s, input(0), t / s.cols, t % s.cols));
      const bool goes_on = begin > 0;
      if (goes_on) walk.in.push_back(small_pixels(s, sums));
      walk.out = {small_pixels(s, last ? output(0) : sums)};
      walk_lines(k, walk, count, [=](auto &lines) {
        lines.loop([=](const auto &at) {
          auto sum = A::add(goes_on ? at.in(count) : number<A>(0), at.in(0));
          for (std::size_t t = 1; t < count; ++t)
            sum = A::add(sum, at.in(t));
          at.out(0, sum);
        });
      });
    });
  }
};

void infer_resize(Inference &op) {
  const std::vector<std::uint32_t> scales = window_numbers(op, "scales", 2, 1);
  const Shape &x = op.shape(0);
  require_image(op, "x", x);
  op.require(std::uint64_t{x[1]} * scales[0] <= UINT32_MAX && std::uint64_t{x[2]} * scales[1] <= UINT32_MAX,
             "x is " + x.text() + "; the result would have more than 2^32 rows or columns");
  op.set(0, {x[0], x[1] * scales[0], x[2] * scales[1], x[3]});
}

void infer_resize_gradient(Inference &op) {
  const std::vector<std::uint32_t> scales = window_numbers(op, "scales", 2, 1);
  const Shape &dy = op.shape(0);
  require_image(op, "dy", dy);
  op.require(dy[1] % scales[0] == 0 && dy[2] % scales[1] == 0,
             fmt::format("dy is {}; its rows and columns must be multiples of the blocks' {} x {}", dy.text(),
                         scales[0], scales[1]));
  op.set(0, {dy[0], dy[1] / scales[0], dy[2] / scales[1], dy[3]});
}

void derive_resize(Derivation &d) {
  d.give(0, d.build.add("ResizeGradient", {d.gradient()}, d.attributes(), d.name(0)));
}

} // namespace

std::vector<Operator> resize_operators() {
  const AttributeSpec scales{"scales", AttributeKind::kIntegers, {}, "[rows, columns] that a pixel becomes"};
  Operator resize;
  resize.name = "Resize";
  resize.summary = "an image whose pixels are blocks of equal ones";
  resize.inputs = {{"x"}};
  resize.outputs = {{"y", Gives::kAsInput}};
  resize.attributes = {scales};
  resize.infer = infer_resize;
  resize.derive = derive_resize;
  resize.operations = no_operations;
  resize.lower = walks<Walk::kMove>;
  executes<ResizeRun>(resize);

  Operator gradient;
  gradient.name = "ResizeGradient";
  gradient.summary = "for each pixel the sum of dy over its block, rows and columns ascending";
  gradient.inputs = {{"dy"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = {scales};
  gradient.infer = infer_resize_gradient;
  gradient.operations = operations_per_input<1>;
  gradient.lower = walks<Walk::kWindow>;
  executes<ResizeGradientRun>(gradient);
  return {resize, gradient};
}

} // namespace gradweave::graph
