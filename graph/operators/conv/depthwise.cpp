// Where each group has one channel, a matrix product would be one column wide: here all channels of a pixel take a step
// together. The sequence of steps of each result is that of the product.
#include "base/process/parallel.hpp"
#include "graph/operators/loops/convolve.hpp"
#include "graph/operators/loops/step.hpp"
#include "graph/operators/loops/window.hpp"

#include <algorithm>
#include <vector>

namespace gradweave::graph {
namespace {

std::size_t taps_of(const Convolution &conv) { return std::size_t{conv.kernel_height} * conv.kernel_width; }

/// Pixels whose steps are worth a thread.
std::size_t depthwise_grain(const Convolution &conv) {
  return (std::size_t{1} << 15U) / (taps_of(conv) * conv.channels) + 1;
}

/// The weights of each tap side by side: [tap][channel].
template <class V> std::vector<V> by_tap(const Convolution &conv, const V *w) {
  const std::size_t taps = taps_of(conv);
  std::vector<V> turned(taps * conv.channels);
  for (std::size_t g = 0; g < conv.channels; ++g)
    for (std::size_t t = 0; t < taps; ++t)
      turned[t * conv.channels + g] = w[g * taps + t];
  return turned;
}

/// acc[i] = a[i] * b[i] + acc[i].
template <class V> void step_channels(const V *a, const V *b, std::size_t count, V *acc) {
  for (std::size_t i = 0; i < count; ++i)
    acc[i] = fused(a[i], b[i], acc[i]);
}

/// Calls visit(tap, pixel of the image) for an output pixel's taps, ascending; of padding, `none` is the pixel.
template <class V, typename Visit>
void for_taps(const Convolution &conv, const V *image, const V *padding, std::size_t m, Visit visit) {
  const std::size_t c = m % conv.out_width(), r = m / conv.out_width() % conv.out_height();
  const std::size_t b = m / conv.out_width() / conv.out_height();
  for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
    for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
      const auto pixel = input_pixel(conv, b, r, c, kr, kc);
      visit(kr * conv.kernel_width + kc, pixel ? image + *pixel * conv.channels : padding);
    }
}

} // namespace

template <class V>
void convolve_depthwise(const Convolution &conv, const V *image, const V *w, V *y, unsigned threads) {
  const std::size_t channels = conv.channels;
  const std::vector<V> turned = by_tap(conv, w), padding(channels);
  parallel_for(conv.m(), depthwise_grain(conv), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t m = begin; m < end; ++m) {
      V *acc = y + m * channels;
      std::fill_n(acc, channels, V{0});
      for_taps(conv, image, padding.data(), m, [&](std::size_t tap, const V *pixel) {
        step_channels(pixel, turned.data() + tap * channels, channels, acc);
      });
      make_canonical(acc, channels);
    }
  });
}

template <class V>
void convolve_depthwise_back(const Convolution &conv, const V *dy, const V *w, V *dx, unsigned threads) {
  const std::size_t channels = conv.channels;
  const std::vector<V> turned = by_tap(conv, w), beyond(channels); // +0 at the edge of dY (N24)
  const std::size_t pixels = std::size_t{conv.batch} * conv.height * conv.width;
  parallel_for(pixels, depthwise_grain(conv), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t c = p % conv.width, r = p / conv.width % conv.height, b = p / conv.width / conv.height;
      V *sums = dx + p * channels;
      std::fill_n(sums, channels, V{0});
      for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
        for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
          if (!meets(r, kr, conv.stride_height, conv.dilation_height, conv.pad_top) ||
              !meets(c, kc, conv.stride_width, conv.dilation_width, conv.pad_left))
            continue;
          const auto m = output_pixel(conv, b, r, c, kr, kc);
          step_channels(m ? dy + *m * channels : beyond.data(),
                        turned.data() + (kr * conv.kernel_width + kc) * channels, channels, sums);
        }
      make_canonical(sums, channels);
    }
  });
}

template <class V>
void accumulate_depthwise_gradient(const Convolution &conv, const V *image, const V *dy, V *dw, unsigned threads) {
  const std::size_t taps = taps_of(conv), channels = conv.channels;
  const std::vector<V> padding(channels);
  constexpr std::size_t kTogether = 16; // channels: a cache line, and a vector register
  const std::size_t parts = (channels + kTogether - 1) / kTogether;
  parallel_for(parts, depthwise_grain(conv) / conv.m() + 1, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t low = begin * kTogether, count = std::min(channels, end * kTogether) - low;
    std::vector<V> acc(taps * count);
    for (std::size_t t = 0; t < taps; ++t)
      for (std::size_t g = 0; g < count; ++g)
        acc[t * count + g] = dw[(low + g) * taps + t];
    for (std::size_t m = 0; m < conv.m(); ++m)
      for_taps(conv, image, padding.data(), m, [&](std::size_t tap, const V *pixel) {
        step_channels(pixel + low, dy + m * channels + low, count, acc.data() + tap * count);
      });
    make_canonical(acc.data(), acc.size());
    for (std::size_t t = 0; t < taps; ++t)
      for (std::size_t g = 0; g < count; ++g)
        dw[(low + g) * taps + t] = acc[t * count + g];
  });
}

template void convolve_depthwise(const Convolution &, const float *, const float *, float *, unsigned);
template void convolve_depthwise(const Convolution &, const double *, const double *, double *, unsigned);
template void convolve_depthwise_back(const Convolution &, const float *, const float *, float *, unsigned);
template void convolve_depthwise_back(const Convolution &, const double *, const double *, double *, unsigned);
template void accumulate_depthwise_gradient(const Convolution &, const float *, const float *, float *, unsigned);
template void accumulate_depthwise_gradient(const Convolution &, const double *, const double *, double *, unsigned);

} // namespace gradweave::graph
