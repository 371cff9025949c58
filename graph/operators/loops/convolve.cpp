#include "graph/operators/loops/convolve.hpp"

#include "base/process/parallel.hpp"
#include "graph/operators/loops/matrix_product.hpp"
#include "graph/operators/loops/step.hpp"
#include "graph/operators/loops/window.hpp"

#include <algorithm>
#include <vector>

namespace gradweave::graph {
namespace {

constexpr std::size_t kConvGrain = 1U << 14U; ///< elements that are worth a thread

/// Columns of X, all groups.
std::size_t pitch_of(const Convolution &conv) { return std::size_t{conv.k()} * conv.groups; }

/// Rows of X that are made at a time, so that they stay in a cache and memory is not the batch's.
std::size_t rows_at_a_time(const Convolution &conv) {
  constexpr std::size_t kElements = 1U << 21U;
  return std::clamp<std::size_t>(kElements / pitch_of(conv), 64, 8192);
}

/// What an output pixel reads, tap by tap; the channels of each group side by side.
template <class V> void gather_row(const Convolution &conv, const V *image, std::size_t m, V *x) {
  const std::size_t c = m % conv.out_width(), r = m / conv.out_width() % conv.out_height();
  const std::size_t b = m / conv.out_width() / conv.out_height();
  const std::size_t channels = conv.group_channels();
  for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
    for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
      const auto pixel = input_pixel(conv, b, r, c, kr, kc);
      V *tap = x + (kr * conv.kernel_width + kc) * channels;
      for (std::size_t g = 0; g < conv.groups; ++g) {
        if (pixel)
          std::copy_n(image + *pixel * conv.channels + g * channels, channels, tap + g * conv.k());
        else
          std::fill_n(tap + g * conv.k(), channels, V{0}); // N16
      }
    }
}

/// Calls visit(first row, rows, X of them) for all rows of X, ascending.
template <class V, typename Visit>
void for_rows_of_x(const Convolution &conv, const V *image, unsigned threads, Visit visit) {
  if (conv.is_pointwise()) return visit(std::size_t{0}, std::size_t{conv.m()}, image);
  const std::size_t most = rows_at_a_time(conv), pitch = pitch_of(conv);
  std::vector<V> x(std::min<std::size_t>(most, conv.m()) * pitch);
  for (std::size_t first = 0; first < conv.m(); first += most) {
    const std::size_t rows = std::min<std::size_t>(most, conv.m() - first);
    parallel_for(rows, kConvGrain / pitch + 1, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t m = begin; m < end; ++m)
        gather_row(conv, image, first + m, x.data() + m * pitch);
    });
    visit(first, rows, static_cast<const V *>(x.data()));
  }
}

template <class V> void round_copies(V *copies, std::size_t count, unsigned threads) {
  parallel_for(count, kConvGrain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      copies[i] = rounded_copy(copies[i]);
  });
}

/// Each pixel is its own only copy.
template <class V> void pointwise_back(const Convolution &conv, const V *dy, const V *w, V *dx, unsigned threads) {
  const std::size_t m = conv.m(), n = conv.n(), k = conv.k();
  std::fill_n(dx, m * k, V{0});
  accumulate_product(Matrix<V>{dy, n, 1}, Matrix<V>{w, n, 1}.transposed(), m, k, n, dx, threads);
  round_copies(dx, m * k, threads);
}

/// The gradient of one pixel from its copies in dX, [group][output pixel of this image][K], ascending by tap (N17).
template <class V> void sum_copies(const Convolution &conv, const V *dx, std::size_t r, std::size_t c, V *sums) {
  const std::size_t channels = conv.group_channels(), k = conv.k();
  const std::size_t pixels = std::size_t{conv.out_height()} * conv.out_width();
  std::fill_n(sums, conv.channels, V{0});
  bool first = true;
  for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
    for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
      const auto m = output_pixel(conv, 0, r, c, kr, kc);
      if (!m) continue;
      const std::size_t tap = (kr * conv.kernel_width + kc) * channels;
      for (std::size_t g = 0; g < conv.groups; ++g)
        add_copies(dx + (g * pixels + *m) * k + tap, channels, first, sums + g * channels);
      first = false;
    }
  make_canonical(sums, conv.channels);
}

} // namespace

template <class V> void convolve(const Convolution &conv, const V *image, const V *w, V *y, unsigned threads) {
  if (is_depthwise(conv)) return convolve_depthwise(conv, image, w, y, threads);
  const std::size_t n = conv.n(), k = conv.k();
  std::vector<V> columns;
  for_rows_of_x(conv, image, threads, [&](std::size_t first, std::size_t rows, const V *x) {
    V *out = y + first * conv.out_channels;
    if (conv.groups == 1) {
      std::fill_n(out, rows * n, V{0});
      return accumulate_product(Matrix<V>{x, k, 1}, Matrix<V>{w, n, 1}, rows, n, k, out, threads);
    }
    for (std::size_t g = 0; g < conv.groups; ++g) {
      columns.assign(rows * n, V{0});
      accumulate_product(Matrix<V>{x + g * k, pitch_of(conv), 1}, Matrix<V>{w + g * k * n, n, 1}, rows, n, k,
                         columns.data(), threads);
      for (std::size_t m = 0; m < rows; ++m)
        std::copy_n(columns.data() + m * n, n, out + m * conv.out_channels + g * n);
    }
  });
}

template <class V> void convolve_back(const Convolution &conv, const V *dy, const V *w, V *dx, unsigned threads) {
  if (is_depthwise(conv)) return convolve_depthwise_back(conv, dy, w, dx, threads);
  if (conv.is_pointwise()) return pointwise_back(conv, dy, w, dx, threads);
  const std::size_t n = conv.n(), k = conv.k();
  const std::size_t pixels = std::size_t{conv.out_height()} * conv.out_width();
  const std::size_t image = std::size_t{conv.height} * conv.width;
  std::vector<V> copies(pixels * pitch_of(conv));
  for (std::size_t b = 0; b < conv.batch; ++b) {
    std::fill(copies.begin(), copies.end(), V{0});
    for (std::size_t g = 0; g < conv.groups; ++g)
      accumulate_product(Matrix<V>{dy + b * pixels * conv.out_channels + g * n, conv.out_channels, 1},
                         Matrix<V>{w + g * k * n, n, 1}.transposed(), pixels, k, n, copies.data() + g * pixels * k,
                         threads);
    round_copies(copies.data(), copies.size(), threads);
    const std::size_t work = std::size_t{conv.channels} * conv.kernel_height * conv.kernel_width;
    parallel_for(image, kConvGrain / work + 1, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p)
        sum_copies(conv, copies.data(), p / conv.width, p % conv.width, dx + (b * image + p) * conv.channels);
    });
  }
}

template <class V>
void accumulate_weight_gradient(const Convolution &conv, const V *image, const V *dy, V *dw, unsigned threads) {
  if (is_depthwise(conv)) return accumulate_depthwise_gradient(conv, image, dy, dw, threads);
  const std::size_t n = conv.n(), k = conv.k();
  for_rows_of_x(conv, image, threads, [&](std::size_t first, std::size_t rows, const V *x) {
    for (std::size_t g = 0; g < conv.groups; ++g)
      accumulate_product(Matrix<V>{x + g * k, pitch_of(conv), 1}.transposed(),
                         Matrix<V>{dy + first * conv.out_channels + g * n, conv.out_channels, 1}, k, n, rows,
                         dw + g * k * n, threads);
  });
}

template void convolve(const Convolution &, const float *, const float *, float *, unsigned);
template void convolve(const Convolution &, const double *, const double *, double *, unsigned);
template void convolve_back(const Convolution &, const float *, const float *, float *, unsigned);
template void convolve_back(const Convolution &, const double *, const double *, double *, unsigned);
template void accumulate_weight_gradient(const Convolution &, const float *, const float *, float *, unsigned);
template void accumulate_weight_gradient(const Convolution &, const double *, const double *, double *, unsigned);

} // namespace gradweave::graph
