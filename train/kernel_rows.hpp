// dW of a convolution of few channels: which walks over its image fill the array's lines better than one a tap.
#pragma once

#include "sw_models/config/machine.hpp"
#include "sw_models/numerics/convolution.hpp"

#include <optional>

namespace gradweave::runtime::train {

/// A convolution in two steps: what some rows of the kernel, as many as the stride, read of the image, as the channels
/// of a pixel side by side (`rows`: im2col of such a part of the kernel), and a convolution of one column, a stride of
/// 1 and no padding but that of whole rows over these pixels (`columns`). Terms of an element of dW are those of the
/// whole in the same order (N15). If the kernel's rows are no multiple of the stride, the last pixels' channels have
/// more: dW's last rows belong to nothing.
struct KernelRows {
  Convolution rows, columns;

  bool has_more(const Convolution &conv) const { return columns.k() > conv.k(); }
};

/// dW over an image takes a walk over all pixels for each tap, of whose lines it fills as many lanes as there are
/// channels. If the taps of so many kernel rows fit a line together, one walk does for all of them. None: they do not,
/// there is one tap a row, or, with a stride, making the pixels would take longer than the walks that are saved.
std::optional<KernelRows> kernel_rows_of(const Convolution &conv, const NpuConfig &npu);

/// The first row of the kernel that meets the image in every pixel of the result; none where each row meets padding
/// somewhere, as with a result of more rows than the image.
std::optional<std::uint32_t> row_inside_image(const Convolution &conv);

} // namespace gradweave::runtime::train
