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
};

} // namespace gradweave::compiler
