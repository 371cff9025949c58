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

/// Rows of im2col's matrix, of `pitch` columns, that are made at a time, so that they stay in a cache and memory is not
/// the batch's.
std::size_t rows_at_a_time(std::size_t pitch) {
  constexpr std::size_t kElements = 1U << 21U;
  return std::clamp<std::size_t>(kElements / pitch, 64, 8192);
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
  const std::size_t pitch = pitch_of(conv), most = rows_at_a_time(pitch);
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

/// What the gradient of a pixel reads of dY, tap by tap of its phase; the output channels of each group side by side.
template <class V>
void gather_transposed_row(const Convolution &conv, const V *dy, const TransposedPhase &phase, std::size_t pixel,
                           V *row) {
  const std::size_t c = pixel % conv.width, r = pixel / conv.width % conv.height;
  const std::size_t b = pixel / conv.width / conv.height, n = conv.n(), terms = phase.taps.size() * n;
  for (std::size_t t = 0; t < phase.taps.size(); ++t) {
    const std::size_t tap = phase.taps[t];
    const auto m = output_pixel(conv, b, r, c, tap / conv.kernel_width, tap % conv.kernel_width);
    for (std::size_t g = 0; g < conv.groups; ++g) {
      V *to = row + g * terms + t * n;
      if (m)
        std::copy_n(dy + *m * conv.out_channels + g * n, n, to);
      else
        std::fill_n(to, n, V{0}); // at the edge of dY (N24)
    }
  }
}

/// A group's weights of a phase's taps, an output channel of a tap a row.
template <class V>
std::vector<V> weights_of_phase(const Convolution &conv, const V *w, const TransposedPhase &phase, std::size_t g) {
  const std::size_t n = conv.n(), channels = conv.group_channels();
  std::vector<V> rows(phase.taps.size() * n * channels);
  for (std::size_t t = 0; t < phase.taps.size(); ++t)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < n; ++i)
        rows[(t * n + i) * channels + c] = w[(g * conv.k() + phase.taps[t] * channels + c) * n + i];
  return rows;
}

/// The image's gradient at the pixels of a phase: im2col of dY, a few rows at a time.
template <class V> class PhaseGradient {
public:
  PhaseGradient(const Convolution &conv, const V *dy, const V *w, const TransposedPhase &phase, unsigned threads)
      : conv_(conv), dy_(dy), phase_(phase), threads_(threads), terms_(phase.taps.size() * conv.n()) {
    for (std::size_t g = 0; g < conv.groups; ++g)
      weights_.push_back(weights_of_phase(conv, w, phase, g));
  }

  void run(V *dx) {
    const std::size_t pitch = terms_ * conv_.groups, most = rows_at_a_time(pitch);
    std::vector<V> x(std::min(most, phase_.pixels.size()) * pitch);
    for (std::size_t first = 0; first < phase_.pixels.size(); first += most) {
      const std::size_t rows = std::min(most, phase_.pixels.size() - first);
      parallel_for(rows, kConvGrain / pitch + 1, threads_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
          gather_transposed_row(conv_, dy_, phase_, phase_.pixels[first + i], x.data() + i * pitch);
      });
      for (std::size_t g = 0; g < conv_.groups; ++g)
        advance(x.data() + g * terms_, pitch, first, rows, g, dx);
    }
  }

private:
  void advance(const V *x, std::size_t pitch, std::size_t first, std::size_t rows, std::size_t g, V *dx) {
    const std::size_t channels = conv_.group_channels();
    sums_.assign(rows * channels, V{0});
    accumulate_product(Matrix<V>{x, pitch, 1}, Matrix<V>{weights_[g].data(), channels, 1}, rows, channels, terms_,
                       sums_.data(), threads_);
    for (std::size_t i = 0; i < rows; ++i)
      std::copy_n(sums_.data() + i * channels, channels,
                  dx + phase_.pixels[first + i] * std::size_t{conv_.channels} + g * channels);
  }

  const Convolution &conv_;
  const V *dy_;
  const TransposedPhase &phase_;
  unsigned threads_;
  std::size_t terms_;                   ///< of a chain
  std::vector<std::vector<V>> weights_; ///< of each group
  std::vector<V> sums_;
};

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
  std::fill_n(dx, conv.image_size(), V{0});
  if (conv.is_pointwise())
    return accumulate_product(Matrix<V>{dy, conv.n(), 1}, Matrix<V>{w, conv.n(), 1}.transposed(), conv.m(), conv.k(),
                              conv.n(), dx, threads);
  for (const TransposedPhase &phase : transposed_phases(conv))
    if (!phase.taps.empty() && !phase.pixels.empty()) PhaseGradient<V>(conv, dy, w, phase, threads).run(dx);
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
