// MaxPool and its gradient.
#include "graph/operators/loops/step.hpp"
#include "graph/operators/pool/pool.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kTapsWork = 8; ///< operations for an element of a window, roughly

/// The first NaN wins, else the first of the largest. `at` becomes the pixel of the image it comes from.
template <class V>
void largest_of(const Extent &window, std::size_t width, std::size_t channels, const V *image, V *best,
                std::uint32_t *at) {
  bool first = true;
  for (std::size_t r = window.first_row; r < window.end_row; ++r)
    for (std::size_t c = window.first_col; c < window.end_col; ++c) {
      const auto pixel = static_cast<std::uint32_t>(r * width + c);
      const V *x = image + pixel * channels;
      for (std::size_t i = 0; i < channels; ++i) {
        const bool best_is_number = !std::isnan(best[i]);
        const bool larger = first || (best_is_number && !(x[i] <= best[i])); // a NaN is not less than anything
        best[i] = larger ? x[i] : best[i];
        at[i] = larger ? pixel : at[i];
      }
      first = false;
    }
}

/// For each output pixel (image, r, c) its largest values and where they are.
template <class A>
void for_largest(const Kernel<A> &k, const Convolution &v, const typename A::Value *image, typename A::Value *best,
                 std::vector<std::uint32_t> &at) {
  const std::size_t pixels = std::size_t{v.height} * v.width, channels = v.channels;
  k.parallel(v.m(), channels * v.kernel_height * v.kernel_width * kTapsWork, [&](std::size_t begin, std::size_t end) {
    for (std::size_t m = begin; m < end; ++m) {
      const std::size_t c = m % v.out_width(), r = m / v.out_width() % v.out_height();
      const std::size_t b = m / v.out_width() / v.out_height();
      largest_of(extent_of(v, r, c), v.width, channels, image + b * pixels * channels, best + m * channels,
                 at.data() + m * channels);
    }
  });
}

struct MaxPoolRun {
  template <class A> static void run(Kernel<A> &k) {
    std::vector<std::uint32_t> at(k.out_shape(0).elements());
    for_largest(k, pool_window(k.attributes(), k.in_shape(0)), k.in(0), k.out(0), at);
    k.parallel(at.size(), 1,
               [&](std::size_t begin, std::size_t end) { make_canonical(k.out(0) + begin, end - begin); });
  }
};

struct MaxPoolGradientRun {
  /// Inputs: dY and X, in which the largest are looked for again.
  template <class A> static void run(Kernel<A> &k) {
    const Convolution v = pool_window(k.attributes(), k.in_shape(1));
    const std::size_t channels = v.channels;
    std::vector<typename A::Value> largest(k.in_shape(0).elements());
    std::vector<std::uint32_t> at(largest.size());
    for_largest(k, v, k.in(1), largest.data(), at);
    const std::size_t work = channels * kTapsWork * v.kernel_height * v.kernel_width;
    k.parallel(std::size_t{v.batch} * v.height * v.width, work, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        const std::size_t c = p % v.width, r = p / v.width % v.height, b = p / v.width / v.height;
        const std::size_t pixel = r * v.width + c;
        auto *dx = k.out(0) + p * channels;
        std::fill_n(dx, channels, typename A::Value{0});
        for_windows_of(v, b, r, c, [&](std::size_t m, std::size_t, std::size_t) {
          const auto *dy = k.in(0) + m * channels;
          for (std::size_t i = 0; i < channels; ++i)
            dx[i] = at[m * channels + i] == pixel ? A::add(dx[i], dy[i]) : dx[i];
        });
      }
    });
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
  executes_golden<MaxPoolRun>(pool);

  Operator gradient;
  gradient.name = "MaxPoolGradient";
  gradient.summary = "for each element, the sum of dy over the windows whose first largest it is";
  gradient.inputs = {{"dy"}, {"x"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = pool_attributes();
  gradient.infer = infer_max_pool_gradient;
  gradient.operations = pool_operations;
  gradient.lower = walks<Walk::kWindow>;
  executes_golden<MaxPoolGradientRun>(gradient);
  return {pool, gradient};
}

} // namespace gradweave::graph
