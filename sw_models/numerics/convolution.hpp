// Convolutions: their geometry, and how im2col makes a matrix product of one. Clause numbers (N15, ...) are those of
// docs/numerics.md.
//
// Images are dense NHWC arrays (image, row, column, channel). A group of a convolution has its own run of channels and
// of output channels, and reads and writes no others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave {

/// A 2-D convolution. Its GEMM by im2col has M = batch x out_height x out_width (in this order), K = kernel_height x
/// kernel_width x channels / groups (in this order), N = out_channels / groups, for each group. `groups` divides both
/// numbers of channels, and the kernel fits the padded image.
struct Convolution {
  std::uint32_t batch = 1;
  std::uint32_t height = 0, width = 0;                   ///< of the input image
  std::uint32_t channels = 0, out_channels = 0;          ///< of all groups
  std::uint32_t kernel_height = 1, kernel_width = 1;     ///< taps
  std::uint32_t stride_height = 1, stride_width = 1;     ///< input pixels from output pixel to output pixel
  std::uint32_t pad_top = 0, pad_bottom = 0;             ///< rows of zeros
  std::uint32_t pad_left = 0, pad_right = 0;             ///< columns of zeros
  std::uint32_t dilation_height = 1, dilation_width = 1; ///< input pixels from tap to tap
  std::uint32_t groups = 1;                              ///< channels are cut into this many independent convolutions

  std::uint32_t out_height() const {
    return (height + pad_top + pad_bottom - dilation_height * (kernel_height - 1) - 1) / stride_height + 1;
  }
  std::uint32_t out_width() const {
    return (width + pad_left + pad_right - dilation_width * (kernel_width - 1) - 1) / stride_width + 1;
  }
  std::uint32_t group_channels() const { return channels / groups; }
  std::uint32_t m() const { return batch * out_height() * out_width(); }
  std::uint32_t k() const { return kernel_height * kernel_width * group_channels(); } ///< of one group
  std::uint32_t n() const { return out_channels / groups; }                           ///< of one group
  std::size_t image_size() const { return std::size_t{batch} * height * width * channels; }

  /// X is the image itself, and dX the image's gradient: each pixel is read once, in its own place.
  bool is_pointwise() const {
    return kernel_height == 1 && kernel_width == 1 && stride_height == 1 && stride_width == 1 && pad_top == 0 &&
           pad_bottom == 0 && pad_left == 0 && pad_right == 0 && groups == 1;
  }

  /// Of the same image both have the same X.
  bool reads_like(const Convolution &o) const {
    return batch == o.batch && height == o.height && width == o.width && channels == o.channels &&
           kernel_height == o.kernel_height && kernel_width == o.kernel_width && stride_height == o.stride_height &&
           stride_width == o.stride_width && pad_top == o.pad_top && pad_bottom == o.pad_bottom &&
           pad_left == o.pad_left && pad_right == o.pad_right && dilation_height == o.dilation_height &&
           dilation_width == o.dilation_width && groups == o.groups;
  }
};

/// X, M x (groups K) row-major: row m holds what output pixel m reads, tap by tap; padding is +0 (N15, N16). `image`
/// has image_size() elements.
std::vector<std::uint16_t> im2col(const Convolution &conv, const std::uint16_t *image);

/// The image packed (docs/convolution.md): a row for each block of stride x stride pixels, their channels side by side,
/// row by row. Pixels of a block beyond the image, which no tap may read, are NaN.
std::vector<std::uint16_t> packed_image(const Convolution &conv, const std::uint16_t *image);
/// And back.
std::vector<std::uint16_t> unpacked_image(const Convolution &conv, const std::uint16_t *packed);

/// The image's gradient from dX, M x (groups K) row-major bf16: for each element of the image the fp32 sum of all its
/// copies in ascending order of their taps, rounded once to bf16 (N17). Copies that are padding are dropped.
std::vector<std::uint16_t> col2im(const Convolution &conv, const std::uint16_t *dx);

/// Pixels of an image that the same taps of a transposed convolution meet: every stride-th from (y, x) on.
struct TransposedPhase {
  std::uint32_t y = 0, x = 0;
  std::vector<std::uint32_t> taps;   ///< row by row of the kernel
  std::vector<std::uint32_t> pixels; ///< of all images
};
/// All of them; of a stride of 1 one.
std::vector<TransposedPhase> transposed_phases(const Convolution &conv);

/// im2col of a transposed convolution (N24) for the pixels of a phase: a row each, of groups x (taps of the phase) x
/// (output channels of a group) columns, row-major; the row of a pixel holds what its gradient reads of `dy`, tap by
/// tap, +0 where no output pixel reads it at the tap.
std::vector<std::uint16_t> im2col_transposed(const Convolution &conv, const std::uint16_t *dy,
                                             const TransposedPhase &phase);

/// W for the product with that: a group's taps of the phase x output channels rows of group_channels() columns each,
/// from `w`, (groups K) x N row-major; all groups one below the other.
std::vector<std::uint16_t> transposed_weights(const Convolution &conv, const std::uint16_t *w,
                                              const TransposedPhase &phase);

/// The terms of a reduction over `taps` taps of `channels` channels in the order of blocks of `block` channels (N25),
/// each as tap x channels + channel. 0: tap by tap.
std::vector<std::uint32_t> term_order(std::uint32_t taps, std::uint32_t channels, std::uint32_t block);

/// A convolution computed as one: loops over pixels and taps that read images where they lie. Bits must equal those of
/// the golden products on im2col's matrices, with col2im after dX.
///
/// `cuts` is the reduction plan (N14): the indices of the reduction, ascending and inside it, where a new partial sum
/// begins. None: one sum. `block` (N25): channels that the reduction takes at a time, all taps of each block before the
/// next; 0: all channels of a tap before the next tap. Indices count in the order of the sum.
namespace direct {

using Cuts = std::vector<std::uint32_t>;

/// Y, an image of batch x out_height x out_width x out_channels in bf16. `w` is (groups K) x N row-major bf16. The
/// reduction runs over K.
std::vector<std::uint16_t> forward(const Convolution &conv, const std::uint16_t *image, const std::uint16_t *w,
                                   const Cuts &cuts = {}, std::uint32_t block = 0);

/// The image's gradient in bf16. `dy` is an image like Y, `w` as above. The reduction runs over N, for each copy of an
/// element of the image.
std::vector<std::uint16_t> input_gradient(const Convolution &conv, const std::uint16_t *dy, const std::uint16_t *w,
                                          const Cuts &cuts = {});

/// The image's gradient in bf16 by the transposed convolution (N24): for each element one sum over taps and output
/// channels, rounded once. The reduction runs over the taps' output channels.
std::vector<std::uint16_t> transposed(const Convolution &conv, const std::uint16_t *dy, const std::uint16_t *w,
                                      const Cuts &cuts = {}, std::uint32_t block = 0);

/// dW, (groups K) x N row-major fp32. The reduction runs over M.
std::vector<float> weight_gradient(const Convolution &conv, const std::uint16_t *image, const std::uint16_t *dy,
                                   const Cuts &cuts = {});

} // namespace direct
} // namespace gradweave
