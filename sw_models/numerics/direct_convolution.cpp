// Convolutions from their definition. Loops are ordered so that the innermost runs over independent results, which lets
// the compiler vectorise without touching the order of any sum. This file is compiled like golden.cpp.
#include "sw_models/numerics/convolution.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::direct {
namespace {

std::vector<float> widened(const std::uint16_t *data, std::size_t count) {
  std::vector<float> values(count);
  std::transform(data, data + count, values.begin(), fp32_from_bf16);
  return values;
}

/// acc[i] = a * b[i] + acc[i], each rounded once (N5).
void accumulate(float a, const float *b, std::size_t count, float *acc) {
  for (std::size_t i = 0; i < count; ++i)
    acc[i] = __builtin_fmaf(a, b[i], acc[i]);
}

/// Calls part(first, end, acc) for every part of the reduction plan, with `count` sums of +0 that it continues, and
/// adds the parts to `total`, ascending (N13, N14).
template <typename Part>
void sum_parts(const Cuts &cuts, std::size_t extent, std::size_t count, std::vector<float> &acc, float *total,
               Part part) {
  std::size_t first = 0;
  for (std::size_t p = 0; p <= cuts.size(); ++p) {
    const std::size_t end = p < cuts.size() ? cuts[p] : extent;
    acc.assign(count, 0);
    part(first, end, acc.data());
    if (p == 0)
      std::copy_n(acc.begin(), count, total);
    else
      for (std::size_t i = 0; i < count; ++i)
        total[i] += acc[i];
    first = end;
  }
}

/// Which pixel of a line an output pixel reads at a tap; none: padding.
std::optional<std::size_t> input_at(std::size_t out, std::size_t tap, std::uint32_t stride, std::uint32_t dilation,
                                    std::uint32_t padding, std::uint32_t size) {
  const auto at = static_cast<std::int64_t>(out * stride + tap * dilation) - padding;
  if (at < 0 || at >= size) return std::nullopt;
  return static_cast<std::size_t>(at);
}

/// Which output pixel of a line reads an input pixel at a tap; none: no one does.
std::optional<std::size_t> output_at(std::size_t in, std::size_t tap, std::uint32_t stride, std::uint32_t dilation,
                                     std::uint32_t padding, std::uint32_t outputs) {
  const auto distance = static_cast<std::int64_t>(in + padding) - static_cast<std::int64_t>(tap * dilation);
  if (distance < 0 || distance % stride != 0 || distance / stride >= outputs) return std::nullopt;
  return static_cast<std::size_t>(distance / stride);
}

/// Whether the stride lets a tap meet an input pixel at all.
bool meets(std::size_t in, std::size_t tap, std::uint32_t stride, std::uint32_t dilation, std::uint32_t padding) {
  return (static_cast<std::int64_t>(in + padding) - static_cast<std::int64_t>(tap * dilation)) % stride == 0;
}

/// The group's channels of the pixel that output (r, c) of image b reads at tap (kr, kc); zeros for padding.
const float *read_pixel(const Convolution &conv, const std::vector<float> &image, const std::vector<float> &zeros,
                        std::size_t b, std::size_t r, std::size_t c, std::size_t kr, std::size_t kc, std::size_t g) {
  const auto row = input_at(r, kr, conv.stride_height, conv.dilation_height, conv.pad_top, conv.height);
  const auto col = input_at(c, kc, conv.stride_width, conv.dilation_width, conv.pad_left, conv.width);
  if (!row || !col) return zeros.data();
  return image.data() + ((b * conv.height + *row) * conv.width + *col) * conv.channels + g * conv.group_channels();
}

/// W with the output channel outside: element (g, tap, n, c).
std::vector<float> by_output_channel(const Convolution &conv, const std::uint16_t *w) {
  const std::size_t channels = conv.group_channels();
  const std::size_t n_count = conv.n();
  std::vector<float> turned(std::size_t{conv.groups} * conv.k() * n_count);
  const std::size_t taps = std::size_t{conv.groups} * conv.kernel_height * conv.kernel_width;
  for (std::size_t t = 0; t < taps; ++t)
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t n = 0; n < n_count; ++n)
        turned[(t * n_count + n) * channels + c] = fp32_from_bf16(w[(t * channels + c) * n_count + n]);
  return turned;
}

} // namespace

std::vector<std::uint16_t> forward(const Convolution &conv, const std::uint16_t *image, const std::uint16_t *w,
                                   const Cuts &cuts, std::uint32_t block) {
  const std::vector<float> x = widened(image, conv.image_size());
  const std::vector<float> zeros(conv.group_channels(), 0);
  const std::size_t channels = conv.group_channels(), step = block == 0 ? channels : block;
  const std::size_t n = conv.n();
  const std::size_t k = conv.k();
  const std::vector<float> weights = widened(w, conv.groups * k * n);
  std::vector<float> acc;
  std::vector<float> total(n);
  std::vector<std::uint16_t> y;
  y.reserve(std::size_t{conv.m()} * conv.out_channels);
  for (std::size_t b = 0; b < conv.batch; ++b)
    for (std::size_t r = 0; r < conv.out_height(); ++r)
      for (std::size_t c = 0; c < conv.out_width(); ++c)
        for (std::size_t g = 0; g < conv.groups; ++g) {
          sum_parts(cuts, k, n, acc, total.data(), [&](std::size_t first, std::size_t end, float *sums) {
            std::size_t at = 0; // in the reduction
            for (std::size_t from = 0; from < channels; from += step)
              for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
                for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
                  const float *pixel = read_pixel(conv, x, zeros, b, r, c, kr, kc, g);
                  const std::size_t row = g * k + (kr * conv.kernel_width + kc) * channels;
                  for (std::size_t channel = from; channel < std::min(from + step, channels); ++channel, ++at)
                    if (at >= first && at < end) accumulate(pixel[channel], &weights[(row + channel) * n], n, sums);
                }
          });
          std::transform(total.begin(), total.end(), std::back_inserter(y), bf16_from_fp32);
        }
  return y;
}

std::vector<std::uint16_t> input_gradient(const Convolution &conv, const std::uint16_t *dy, const std::uint16_t *w,
                                          const Cuts &cuts) {
  const std::size_t channels = conv.group_channels();
  const std::size_t n_count = conv.n();
  const std::size_t out_height = conv.out_height();
  const std::size_t out_width = conv.out_width();
  const std::vector<float> weights = by_output_channel(conv, w);
  std::vector<float> acc;
  std::vector<float> copy(channels);
  std::vector<float> sum(channels);
  std::vector<std::uint16_t> dx;
  dx.reserve(conv.image_size());
  for (std::size_t b = 0; b < conv.batch; ++b)
    for (std::size_t row = 0; row < conv.height; ++row)
      for (std::size_t col = 0; col < conv.width; ++col)
        for (std::size_t g = 0; g < conv.groups; ++g) {
          bool begun = false;
          std::fill(sum.begin(), sum.end(), 0.0F);
          for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
            for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
              const auto r = output_at(row, kr, conv.stride_height, conv.dilation_height, conv.pad_top,
                                       static_cast<std::uint32_t>(out_height));
              const auto c = output_at(col, kc, conv.stride_width, conv.dilation_width, conv.pad_left,
                                       static_cast<std::uint32_t>(out_width));
              if (!r || !c) continue;
              const std::uint16_t *out =
                  dy + ((b * out_height + *r) * out_width + *c) * conv.out_channels + g * n_count;
              const std::size_t tap = (g * conv.kernel_height + kr) * conv.kernel_width + kc;
              sum_parts(
                  cuts, n_count, channels, acc, copy.data(), [&](std::size_t first, std::size_t end, float *sums) {
                    for (std::size_t n = first; n < end; ++n)
                      accumulate(fp32_from_bf16(out[n]), &weights[(tap * n_count + n) * channels], channels, sums);
                  });
              for (std::size_t i = 0; i < channels; ++i) { // each copy is a bf16 before they are added (N8, N17)
                const float rounded = fp32_from_bf16(bf16_from_fp32(copy[i]));
                sum[i] = begun ? sum[i] + rounded : rounded;
              }
              begun = true;
            }
          std::transform(sum.begin(), sum.end(), std::back_inserter(dx), bf16_from_fp32);
        }
  return dx;
}

std::vector<std::uint16_t> transposed(const Convolution &conv, const std::uint16_t *dy, const std::uint16_t *w,
                                      const Cuts &cuts, std::uint32_t block) {
  const std::size_t channels = conv.group_channels(), n_count = conv.n();
  const std::size_t out_height = conv.out_height(), out_width = conv.out_width();
  const std::size_t taps = std::size_t{conv.kernel_height} * conv.kernel_width;
  const std::vector<float> weights = by_output_channel(conv, w);
  const std::size_t step = block == 0 ? n_count : block;
  std::vector<float> acc;
  std::vector<float> sum(channels);
  std::vector<std::uint16_t> dx;
  dx.reserve(conv.image_size());
  // The group's channels of a pixel of the gradient.
  const auto pixel = [&](std::size_t b, std::size_t row, std::size_t col, std::size_t g) {
    sum_parts(cuts, taps * n_count, channels, acc, sum.data(), [&](std::size_t first, std::size_t end, float *sums) {
      for (std::size_t at = first; at < end; ++at) {
        // All taps of a block of output channels before the next block.
        const std::size_t from = at / (step * taps) * step, size = std::min(step, n_count - from);
        const std::size_t tap = (at - from * taps) / size, n = from + (at - from * taps) % size;
        const std::size_t kr = tap / conv.kernel_width, kc = tap % conv.kernel_width;
        const auto r = output_at(row, kr, conv.stride_height, conv.dilation_height, conv.pad_top,
                                 static_cast<std::uint32_t>(out_height));
        const auto c = output_at(col, kc, conv.stride_width, conv.dilation_width, conv.pad_left,
                                 static_cast<std::uint32_t>(out_width));
        if (!meets(row, kr, conv.stride_height, conv.dilation_height, conv.pad_top) ||
            !meets(col, kc, conv.stride_width, conv.dilation_width, conv.pad_left))
          continue; // no step
        const float a =
            r && c ? fp32_from_bf16(dy[((b * out_height + *r) * out_width + *c) * conv.out_channels + g * n_count + n])
                   : 0.0F;
        accumulate(a, &weights[((g * taps + tap) * n_count + n) * channels], channels, sums);
      }
    });
  };
  for (std::size_t p = 0; p < std::size_t{conv.batch} * conv.height * conv.width; ++p)
    for (std::size_t g = 0; g < conv.groups; ++g) {
      pixel(p / (std::size_t{conv.height} * conv.width), p / conv.width % conv.height, p % conv.width, g);
      std::transform(sum.begin(), sum.end(), std::back_inserter(dx), bf16_from_fp32);
    }
  return dx;
}

std::vector<float> weight_gradient(const Convolution &conv, const std::uint16_t *image, const std::uint16_t *dy,
                                   const Cuts &cuts) {
  const std::vector<float> x = widened(image, conv.image_size());
  const std::vector<float> zeros(conv.group_channels(), 0);
  const std::size_t channels = conv.group_channels();
  const std::size_t n = conv.n();
  const std::size_t out_width = conv.out_width();
  const std::size_t pixels = conv.out_height() * out_width;
  const std::vector<float> gradient = widened(dy, std::size_t{conv.m()} * conv.out_channels);
  std::vector<float> acc;
  std::vector<float> dw(conv.groups * std::size_t{conv.k()} * n);
  for (std::size_t g = 0; g < conv.groups; ++g)
    for (std::size_t kr = 0; kr < conv.kernel_height; ++kr)
      for (std::size_t kc = 0; kc < conv.kernel_width; ++kc) {
        const std::size_t tap = (g * conv.kernel_height + kr) * conv.kernel_width + kc;
        sum_parts(cuts, conv.m(), channels * n, acc, &dw[tap * channels * n],
                  [&](std::size_t first, std::size_t end, float *sums) {
                    for (std::size_t m = first; m < end; ++m) {
                      const std::size_t at = m % pixels;
                      const float *pixel =
                          read_pixel(conv, x, zeros, m / pixels, at / out_width, at % out_width, kr, kc, g);
                      for (std::size_t channel = 0; channel < channels; ++channel)
                        accumulate(pixel[channel], &gradient[m * conv.out_channels + g * n], n, sums + channel * n);
                    }
                  });
      }
  std::transform(dw.begin(), dw.end(), dw.begin(), canonical);
  return dw;
}

} // namespace gradweave::direct
