// What is asked of a depthwise convolution.
#pragma once

#include "sw_models/numerics/convolution.hpp"

#include <cstdint>

namespace gradweave::compiler {

enum class DepthwiseProduct : std::uint8_t { kY, kDX, kDW };

struct DepthwiseWork {
  DepthwiseProduct product = DepthwiseProduct::kY;
  Convolution conv;  ///< one channel in and one out in each group
  bool fp32 = false; ///< how Y or dX leaves; dW leaves as fp32
  /// Elements from pixel to pixel of X, dY and the result in memory, the channels or more; 0: the channels. Whatever is
  /// between the channels of two pixels is read, computed and overwritten like a channel by Y and dX.
  std::uint32_t pitch = 0;

  std::uint32_t pixel_pitch() const { return pitch == 0 ? conv.channels : pitch; }
};

} // namespace gradweave::compiler
