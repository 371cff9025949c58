// AveragePool and its gradient.
#include "graph/operators/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Of one over the pixels that a window counts: rounded once.
template <class V> V window_share(const Convolution &v, const Attributes &attributes, std::size_t r, std::size_t c) {
  const std::size_t all = std::size_t{v.kernel_height} * v.kernel_width;
  const std::size_t count = attributes.integer("count_include_pad") != 0 ? all : extent_of(v, r, c).pixels();
  return V{1} / static_cast<V>(count);
}

std::size_t window_work(const Convolution &v) { return std::size_t{v.channels} * v.kernel_height * v.kernel_width * 2; }

struct AveragePoolRun {
  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const Convolution v = pool_window(k.attributes(), k.in_shape(0));
    const std::size_t channels = v.channels;
    k.parallel(v.m(), window_work(v), [&](std::size_t begin, std::size_t end) {
      for (std::size_t m = begin; m < end; ++m) {
        const std::size_t c = m % v.out_width(), r = m / v.out_width() % v.out_height();
        const std::size_t b = m / v.out_width() / v.out_height();
        const Extent window = extent_of(v, r, c);
        V *sum = k.out(0) + m * channels;
        std::fill_n(sum, channels, V{0});
        for (std::size_t row = window.first_row; row < window.end_row; ++row)
          for (std::size_t col = window.first_col; col < window.end_col; ++col) {
            const V *x = k.in(0) + ((b * v.height + row) * v.width + col) * channels;
            for (std::size_t i = 0; i < channels; ++i)
              sum[i] = A::add(sum[i], x[i]);
          }
        const V part = window_share<V>(v, k.attributes(), r, c);
        for (std::size_t i = 0; i < channels; ++i)
          sum[i] = A::mul(sum[i], part);
      }
    });
  }
};

struct AveragePoolGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const Convolution v = pool_window(k.attributes(), k.out_shape(0));
    const std::size_t channels = v.channels;
    k.parallel(std::size_t{v.batch} * v.height * v.width, window_work(v), [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        V *dx = k.out(0) + p * channels;
        std::fill_n(dx, channels, V{0});
        for_windows_of(v, p / v.width / v.height, p / v.width % v.height, p % v.width,
                       [&](std::size_t m, std::size_t r, std::size_t c) {
                         const V part = window_share<V>(v, k.attributes(), r, c);
                         const V *dy = k.in(0) + m * channels;
                         for (std::size_t i = 0; i < channels; ++i)
                           dx[i] = A::fma(dy[i], part, dx[i]);
                       });
      }
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
  executes_golden<AveragePoolRun>(pool);

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
  executes_golden<AveragePoolGradientRun>(gradient);
  return {pool, gradient};
}

} // namespace gradweave::graph
