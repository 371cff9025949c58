// Resize: an image whose pixels become blocks of equal ones (nearest neighbour, by whole factors), and its gradient.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/window.hpp"

#include <fmt/format.h>

#include <algorithm>

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

/// The first element of a pixel of the large image: row r and column c of small pixel `p`'s block, which is counted
/// through the batch.
std::size_t large_pixel(const Blocks &s, std::size_t p, std::size_t r, std::size_t c) {
  const std::size_t row = p / s.width * s.rows + r; // rows of all images, one below the other
  return (row * s.width * s.cols + p % s.width * s.cols + c) * s.channels;
}

struct ResizeRun {
  template <class A> static void run(Kernel<A> &k) {
    const Blocks s = blocks_of(k.attributes(), k.in_shape(0));
    k.parallel(k.in_shape(0).rows(), s.channels * s.rows * s.cols, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p)
        for (std::size_t r = 0; r < s.rows; ++r)
          for (std::size_t c = 0; c < s.cols; ++c)
            std::copy_n(k.in(0) + p * s.channels, s.channels, k.out(0) + large_pixel(s, p, r, c));
    });
  }
};

struct ResizeGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Blocks s = blocks_of(k.attributes(), k.out_shape(0));
    k.parallel(k.out_shape(0).rows(), s.channels * s.rows * s.cols, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        auto *sum = k.out(0) + p * s.channels;
        std::fill_n(sum, s.channels, typename A::Value{0});
        for (std::size_t r = 0; r < s.rows; ++r)
          for (std::size_t c = 0; c < s.cols; ++c) {
            const auto *dy = k.in(0) + large_pixel(s, p, r, c);
            for (std::size_t i = 0; i < s.channels; ++i)
              sum[i] = A::add(sum[i], dy[i]);
          }
      }
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
  executes_golden<ResizeRun>(resize);

  Operator gradient;
  gradient.name = "ResizeGradient";
  gradient.summary = "for each pixel the sum of dy over its block, rows and columns ascending";
  gradient.inputs = {{"dy"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = {scales};
  gradient.infer = infer_resize_gradient;
  gradient.operations = operations_per_input<1>;
  gradient.lower = walks<Walk::kWindow>;
  executes_golden<ResizeGradientRun>(gradient);
  return {resize, gradient};
}

} // namespace gradweave::graph
