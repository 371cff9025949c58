// Resize along one axis, as ONNX defines it: which elements each one of the result is made of.
#pragma once

#include "graph/onnx/fold/node_view.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

/// The attributes of a Resize or Upsample.
struct ResizeMode {
  enum class Filter { kNearest, kLinear, kCubic } filter;
  std::string coordinates, rounding;
  double cubic; ///< a of the cubic
  bool antialias, excludes_outside;

  explicit ResizeMode(const NodeView &node);
};

/// An element of the input, and its share in one of the result.
struct Share {
  std::int64_t from;
  double weight;
};

/// Of each of the `outputs` elements of an axis of `size` elements that grows by `scale`; shares sum to 1.
std::vector<std::vector<Share>> shares_along(const ResizeMode &mode, std::int64_t size, std::int64_t outputs,
                                             double scale);

} // namespace gradweave::graph::onnx
