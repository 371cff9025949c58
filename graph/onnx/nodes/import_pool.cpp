// Pooling.
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/tap_pool.hpp"
#include "graph/onnx/nodes/window.hpp"

#include <fmt/format.h>

namespace gradweave::graph::onnx {
namespace {

constexpr std::size_t kMostRank = 6; ///< of a tensor

bool is_pointwise(const Window &w) {
  const std::size_t axes = w.axes();
  return w.kernel == Dims(axes, 1) && w.strides == Dims(axes, 1) && w.pads == Dims(2 * axes, 0) &&
         w.extra == Dims(axes, 0);
}

/// Whether the graph's pooling takes it.
bool is_walked(const Window &w) {
  bool within = w.axes() == 2 && w.dilations == Dims{1, 1};
  for (std::size_t axis = 0; axis < w.axes(); ++axis)
    within = within && w.pads[axis] < w.kernel[axis] && w.pads[axis + w.axes()] + w.extra[axis] < w.kernel[axis];
  return within;
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
  return window_of(node, x, node.integers("kernel_shape", {}), "ceil_mode", kMostRank);
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
  if (!is_walked(w)) return give_tap_pool(node, x, w);
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
  if (!is_walked(w)) return give_tap_pool(node, x, w);
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

void import_lp_pool(NodeImport &node) {
  const Value &x = node.real_in(0);
  give_tap_pool(node, x, pooling_window(node, x));
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

} // namespace gradweave::graph::onnx
