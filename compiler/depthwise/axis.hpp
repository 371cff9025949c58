// One axis of a depthwise convolution: which pixels of what is read each result takes, tap by tap.
#pragma once

#include "compiler/ir/arithmetic.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A tap that position i of a phase takes from pixel i Axis::in_stride + offset.
struct AxisTap {
  std::uint32_t tap = 0; ///< of the kernel
  std::int32_t offset = 0;
};

/// Pixels of the result that the same taps meet: position i is pixel i Axis::out_stride + first.
struct AxisPhase {
  std::uint32_t first = 0, count = 0;
  std::vector<AxisTap> taps; ///< ascending
};

struct Axis {
  std::uint32_t in = 0, out = 0; ///< pixels of what is read, and of the result
  std::uint32_t in_stride = 1, out_stride = 1;
  std::vector<AxisPhase> phases;                                       ///< that have pixels
  std::int32_t least = 0, most = 0;                                    ///< offsets of all taps
  std::size_t positions() const { return divide_up(out, out_stride); } ///< of the longest phase
};

/// A convolution along one axis.
struct AxisShape {
  std::uint32_t image = 0, result = 0; ///< pixels of X and of Y
  std::uint32_t kernel = 1, stride = 1, pad = 0, dilation = 1;
};

Axis forward_axis(const AxisShape &shape);    ///< Y from X
Axis transposed_axis(const AxisShape &shape); ///< dX from dY (N24)

/// floor(a / b), b > 0.
inline std::int32_t floor_div(std::int32_t a, std::int32_t b) { return (a >= 0 ? a : a - b + 1) / b; }

} // namespace gradweave::compiler
