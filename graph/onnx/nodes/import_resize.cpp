// Resize and Upsample: axis by axis, copies of elements, or sums of elements times shares.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/resample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph::onnx {
namespace {

/// Of each dimension: how it grows, and what it becomes.
struct Growth {
  std::vector<double> scales;
  Dims sizes;
};

std::vector<double> given_scales(const NodeImport &node) {
  const std::size_t at = node.is("Upsample") || node.opset() < 11 ? 1 : 2;
  std::vector<double> scales;
  if (node.has_input(at)) {
    const Literal known = node.literal(at, "scales");
    for (std::size_t i = 0; i < known.size(); ++i)
      scales.push_back(known.number(i));
  } else if (const auto found = node.node().attributes.find("scales"); found != node.node().attributes.end()) {
    if (const auto *list = std::get_if<std::vector<double>>(&found->second)) scales = *list;
  }
  return scales;
}

/// Of sizes the scales; both change where one scale for all is to keep the sides' ratio.
void scale_to(const NodeImport &node, const Dims &sizes, const std::vector<std::size_t> &axes, Growth &growth) {
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double scale = static_cast<double>(sizes[i]) / static_cast<double>(growth.sizes[axes[i]]);
    growth.scales[axes[i]] = scale;
    common = i == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t &size = growth.sizes[axes[i]];
    if (policy == "stretch") {
      size = sizes[i];
      continue;
    }
    growth.scales[axes[i]] = common;
    size = std::llround(common * static_cast<double>(size));
  }
}

Growth growth_of(const NodeImport &node, const Value &x) {
  const std::vector<std::int64_t> named = node.integers("axes", {});
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : named)
    axes.push_back(node.axis(axis, x.rank()));
  if (named.empty()) axes = plain_order(x.rank());
  Growth growth{std::vector<double>(x.rank(), 1), x.dims};
  if (const Dims sizes = node.has_input(3) ? node.list(3, "sizes", {}) : Dims{}; !sizes.empty()) {
    if (sizes.size() != axes.size()) node.fail(fmt::format("sizes must be {} numbers", axes.size()));
    scale_to(node, sizes, axes, growth);
  } else {
    const std::vector<double> scales = given_scales(node);
    if (scales.size() != axes.size()) node.fail(fmt::format("scales or sizes must be {} numbers", axes.size()));
    for (std::size_t i = 0; i < axes.size(); ++i) {
      growth.scales[axes[i]] = scales[i];
      const double size = std::floor(static_cast<double>(x.dims[axes[i]]) * scales[i]);
      growth.sizes[axes[i]] = size >= 1 && size < 1e9 ? static_cast<std::int64_t>(size) : 0;
    }
  }
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    if (growth.sizes[axis] < 1)
      node.fail(fmt::format("dimension {} of {} times {} is no size", axis, text_of(x.dims), growth.scales[axis]));
  return growth;
}

/// How often each element along an axis is copied, all as often and in their order; 0: it is otherwise.
std::int64_t copies_of(const std::vector<std::vector<Share>> &shares, std::int64_t size) {
  const auto outputs = static_cast<std::int64_t>(shares.size());
  if (outputs % size != 0) return 0;
  const std::int64_t copies = outputs / size;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::vector<Share> &of = shares[static_cast<std::size_t>(o)];
    if (of.size() != 1 || of[0].from != o / copies) return 0;
  }
  return copies;
}

/// x with an axis resized.
Value resized_along(NodeImport &node, const Value &x, std::size_t axis, const std::vector<std::vector<Share>> &shares) {
  Value y = x;
  y.dims[axis] = static_cast<std::int64_t>(shares.size());
  if (std::all_of(shares.begin(), shares.end(), [](const std::vector<Share> &of) { return of.size() == 1; })) {
    Dims from;
    for (const std::vector<Share> &of : shares)
      from.push_back(of[0].from);
    y.tensor = taken_along(node, x.tensor, place_in(x.order, axis), from, false);
    return y;
  }
  y.order.erase(std::find(y.order.begin(), y.order.end(), axis));
  y.order.push_back(axis);
  const std::int64_t size = x.dims[axis], outputs = y.dims[axis];
  std::vector<double> matrix(static_cast<std::size_t>(size * outputs), 0);
  for (std::size_t o = 0; o < shares.size(); ++o)
    for (const Share &share : shares[o])
      matrix[static_cast<std::size_t>(share.from * outputs) + o] = share.weight;
  const TensorId weights =
      node.build.constant(node.build.fresh(node.name() + ".shares"), shape_of(node.build, x.name, {size, outputs}),
                          std::move(matrix), ElementType::kBf16);
  y.tensor = node.step("Gemm", {node.place.in_order(x, y.order), weights}, {}, "resized");
  return y;
}

} // namespace

void import_resize(NodeImport &node) {
  const Own given = own_plain(node);
  Value x = given.like;
  x.tensor = given.tensor;
  const Growth growth = growth_of(node, x);
  const ResizeMode mode(node);
  std::vector<std::vector<std::vector<Share>>> shares;
  Dims copies;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    shares.push_back(shares_along(mode, x.dims[axis], growth.sizes[axis], growth.scales[axis]));
    copies.push_back(copies_of(shares.back(), x.dims[axis]));
  }
  const bool blocks = x.rank() == 4 && copies[0] == 1 && copies[1] == 1 && copies[2] > 0 && copies[3] > 0;
  if (copies == Dims(x.rank(), 1)) return node.give(x);
  if (blocks)
    return node.give(
        node.last("Resize", {node.place.in_order(x, image_order(4))}, {{"scales", Dims{copies[2], copies[3]}}}),
        image_order(4));
  for (std::size_t axis = 0; axis < copies.size(); ++axis)
    if (copies[axis] != 1) x = resized_along(node, x, axis, shares[axis]);
  node.give(x);
}

} // namespace gradweave::graph::onnx
