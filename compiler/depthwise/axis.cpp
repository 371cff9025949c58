#include "compiler/depthwise/axis.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

Axis bounded(Axis axis) {
  bool any = false;
  for (const AxisPhase &phase : axis.phases)
    for (const AxisTap &tap : phase.taps) {
      axis.least = any ? std::min(axis.least, tap.offset) : tap.offset;
      axis.most = any ? std::max(axis.most, tap.offset) : tap.offset;
      any = true;
    }
  return axis;
}

} // namespace

Axis forward_axis(const AxisShape &shape) {
  Axis axis;
  axis.in = shape.image;
  axis.out = shape.result;
  axis.in_stride = shape.stride;
  AxisPhase all{0, shape.result, {}};
  for (std::uint32_t k = 0; k < shape.kernel; ++k)
    all.taps.push_back({k, static_cast<std::int32_t>(k * shape.dilation) - static_cast<std::int32_t>(shape.pad)});
  axis.phases = {std::move(all)};
  return bounded(std::move(axis));
}

Axis transposed_axis(const AxisShape &shape) {
  Axis axis;
  axis.in = shape.result;
  axis.out = shape.image;
  axis.out_stride = shape.stride;
  const auto stride = static_cast<std::int32_t>(shape.stride);
  for (std::uint32_t first = 0; first < std::min(shape.stride, shape.image); ++first) {
    AxisPhase phase{first, static_cast<std::uint32_t>(divide_up(shape.image - first, shape.stride)), {}};
    for (std::uint32_t k = 0; k < shape.kernel; ++k) {
      const std::int32_t padded =
          static_cast<std::int32_t>(first + shape.pad) - static_cast<std::int32_t>(k * shape.dilation);
      if (padded % stride == 0) phase.taps.push_back({k, padded / stride});
    }
    axis.phases.push_back(std::move(phase));
  }
  return bounded(std::move(axis));
}

} // namespace gradweave::compiler
