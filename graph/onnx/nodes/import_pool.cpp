// Pooling, and images of another size.
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/window.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradweave::graph::onnx {
namespace {

bool is_pointwise(const Window &w) {
  return w.kernel == Dims{1, 1} && w.strides == Dims{1, 1} && w.pads == Dims{0, 0, 0, 0} && w.extra == Dims{0, 0};
}

/// A pooling of one op, and of a signal the reshapes around it.
void give_pooled(NodeImport &node, std::string_view op, const Value &x, TensorId image, const Attributes &attributes) {
  if (x.rank() == 4) {
    node.give(node.last(op, {image}, attributes), image_order(4));
    return;
  }
  const Dims dims = numbers(node.build.shape(image));
  const TensorId rows = node.step("Reshape", {image}, {{"shape", Dims{dims[0], 1, dims[1], dims[2]}}}, "image");
  const TensorId pooled = node.step(op, {rows}, attributes);
  const Shape shape = node.build.shape(pooled);
  node.give(node.last("Reshape", {pooled}, {{"shape", Dims{shape[0], shape[2], shape[3]}}}), image_order(3));
}

Window pooling_window(const NodeImport &node, const Value &x) {
  Window window = window_of(node, x, node.integers("kernel_shape", {}), "ceil_mode");
  if (window.dilations != Dims{1, 1})
    node.fail(fmt::format("attribute 'dilations' = {}: pooling is not dilated here", text_of(window.dilations)));
  return window;
}

Dims with_extra(const Window &w) { return {w.pads[0], w.pads[1], w.pads[2] + w.extra[0], w.pads[3] + w.extra[1]}; }

} // namespace

void import_max_pool(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (node.wants(1)) node.fail("output 1, the indices of maxima, is not computed");
  const Window w = pooling_window(node, x);
  if (is_pointwise(w)) {
    node.give(x);
    return;
  }
  give_pooled(node, "MaxPool", x, node.place.in_order(x, image_order(x.rank())),
              {{"kernel_shape", w.kernel}, {"strides", w.strides}, {"pads", with_extra(w)}});
}

void import_average_pool(NodeImport &node) {
  const Value &x = node.real_in(0);
  Window w = pooling_window(node, x);
  if (is_pointwise(w)) {
    node.give(x);
    return;
  }
  bool counts_pads = node.integer("count_include_pad", 0) != 0;
  TensorId image = node.place.in_order(x, image_order(x.rank()));
  if (counts_pads && w.extra != Dims{0, 0}) {
    // Pads count, what lies behind them does not.
    const Dims frame = x.rank() == 4 ? Dims{0, w.pads[0], w.pads[1], 0, 0, w.pads[2], w.pads[3], 0}
                                     : Dims{0, w.pads[1], 0, 0, w.pads[3], 0};
    image = node.step("Pad", {image}, {{"pads", frame}});
    w.pads = {0, 0, 0, 0};
    counts_pads = false;
  }
  give_pooled(node, "AveragePool", x, image,
              {{"kernel_shape", w.kernel},
               {"strides", w.strides},
               {"pads", with_extra(w)},
               {"count_include_pad", std::int64_t{counts_pads}}});
}

void import_global_pool(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (x.rank() < 3) node.fail(fmt::format("input '{}' is {}, no image", x.name, text_of(x.dims)));
  const TensorId image = node.place.in_order(x, image_order(x.rank()));
  const bool average = node.is("GlobalAveragePool");
  if (average && x.rank() == 4) {
    node.give(node.last("GlobalAveragePool", {image}), image_order(4));
    return;
  }
  Dims axes;
  for (std::size_t i = 1; i + 1 < x.rank(); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  node.give(node.last(average ? "ReduceMean" : "ReduceMax", {image}, {{"axes", axes}}), image_order(x.rank()));
}

namespace {

/// The factor of each dimension, from scales or sizes.
std::vector<double> resize_factors(const NodeImport &node, const Value &x) {
  const bool upsample = node.is("Upsample");
  const std::size_t scales_at = upsample || node.opset() < 11 ? 1 : 2;
  std::vector<double> factors;
  if (node.has_input(3)) {
    const Dims sizes = node.list(3, "sizes", {});
    for (std::size_t i = 0; i < sizes.size() && i < x.rank(); ++i)
      factors.push_back(static_cast<double>(sizes[i]) / static_cast<double>(x.dims[i]));
  } else if (node.has_input(scales_at)) {
    const Literal scales = node.literal(scales_at, "scales");
    for (std::size_t i = 0; i < scales.size(); ++i)
      factors.push_back(scales.number(i));
  } else if (const auto found = node.node().attributes.find("scales"); found != node.node().attributes.end()) {
    if (const auto *list = std::get_if<std::vector<double>>(&found->second)) factors = *list;
  }
  if (factors.size() != x.rank()) node.fail(fmt::format("scales or sizes must be {} numbers", x.rank()));
  return factors;
}

/// Whether each pixel becomes a block of copies.
bool copies_blocks(const NodeImport &node, std::int64_t factor) {
  const std::string place = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = node.text("nearest_mode", "round_prefer_floor");
  if (node.is("Upsample") || node.opset() < 11) return true;
  if (place == "asymmetric") return rounding == "floor" || (factor == 2 && rounding == "round_prefer_floor");
  if (place == "tf_half_pixel_for_nn") return rounding == "floor";
  return (place == "half_pixel" || place == "pytorch_half_pixel") && rounding.rfind("round_", 0) == 0;
}

} // namespace

void import_resize(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (x.rank() != 4) node.fail(fmt::format("input '{}' is {}, no image", x.name, text_of(x.dims)));
  const std::vector<double> factors = resize_factors(node, x);
  Dims scales;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto whole = static_cast<std::int64_t>(factors[i] >= 1 && factors[i] <= 1024 ? std::llround(factors[i]) : 0);
    if (whole < 1 || std::abs(factors[i] - static_cast<double>(whole)) > 1e-6 || (i < 2 && whole != 1))
      node.fail(fmt::format("factor {} of dimension {}: rows and columns grow by whole factors", factors[i], i));
    if (i >= 2) scales.push_back(whole);
  }
  if (scales == Dims{1, 1}) {
    node.give(x);
    return;
  }
  if (const std::string mode = node.text("mode", "nearest"); mode != "nearest")
    node.fail(fmt::format("attribute 'mode' = '{}': only 'nearest' is computed", mode));
  for (const std::int64_t scale : scales)
    if (!copies_blocks(node, scale))
      node.fail("the coordinates asked for do not make each pixel a block of copies; use asymmetric and floor");
  node.give(node.last("Resize", {node.place.in_order(x, image_order(4))}, {{"scales", scales}}), image_order(4));
}

} // namespace gradweave::graph::onnx
