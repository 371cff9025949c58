// Tensors over a norm of their own, and normalisations that are composed of means.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

Dims places_of(const Order &order, const std::vector<std::size_t> &axes) {
  Dims places;
  for (const std::size_t axis : axes)
    places.push_back(static_cast<std::int64_t>(place_in(order, axis)));
  std::sort(places.begin(), places.end());
  return places;
}

TensorId reduced(NodeImport &node, std::string_view op, TensorId x, const Dims &places, std::string_view suffix) {
  const Call call = reduced_over(op, x, places, true);
  return node.step(call.op, call.inputs, call.attributes, suffix);
}

/// x less its mean along dimensions, and the mean of that squared.
struct Deviation {
  TensorId away, variance;
};
Deviation deviation_of(NodeImport &node, TensorId x, const Dims &places) {
  const TensorId away = node.step("Sub", {x, reduced(node, "ReduceMean", x, places, "mean")}, {}, "away");
  const TensorId square = node.step("Mul", {away, away}, {}, "square");
  return {away, reduced(node, "ReduceMean", square, places, "variance")};
}

/// The p-norm of x along dimensions, which stay as 1.
TensorId norm_of(NodeImport &node, TensorId x, const Dims &places, double p) {
  const TensorId size = p == 2 ? kNone : node.step("Abs", {x});
  if (p == 1) return reduced(node, "ReduceSum", size, places, "norm");
  const TensorId power = p == 2 ? node.step("Mul", {x, x}, {}, "square") : node.step("Pow", {size, scalar(node, p)});
  const TensorId sum = reduced(node, "ReduceSum", power, places, "sum");
  const Call norm = p == 2 ? norm_call(node, sum) : Call{"Pow", {sum, scalar(node, 1 / p)}};
  return node.step(norm.op, norm.inputs, norm.attributes, "norm");
}

} // namespace

void import_lp_normalization(NodeImport &node) {
  const Own x = own_plain(node);
  const std::size_t axis = node.axis(node.integer("axis", -1), x.like.rank());
  const TensorId norm =
      norm_of(node, x.tensor, places_of(x.like.order, {axis}), static_cast<double>(node.integer("p", 2)));
  // ONNX has 0 where the norm is 0.
  const TensorId zero = scalar(node, 0), some = node.step("Greater", {norm, zero});
  const TensorId over = node.step("Where", {some, norm, scalar(node, 1)}, {}, "over");
  node.give_like(node.last("Div", {x.tensor, over}), x.like);
}

void import_global_lp_pool(NodeImport &node) {
  const Own x = own_plain(node);
  if (x.like.rank() < 3) node.fail(fmt::format("input '{}' is {}, no image", x.like.name, text_of(x.like.dims)));
  std::vector<std::size_t> pixels = plain_order(x.like.rank());
  pixels.erase(pixels.begin(), pixels.begin() + 2);
  const auto p = static_cast<double>(node.integer("p", 2));
  node.give(norm_of(node, x.tensor, places_of(x.like.order, pixels), p), x.like.order);
}

void import_mean_variance_normalization(NodeImport &node) {
  const Own x = own_plain(node);
  const std::vector<std::size_t> axes = node.axes(node.integers("axes", {0, 2, 3}), x.like.rank());
  const Deviation d = deviation_of(node, x.tensor, places_of(x.like.order, axes));
  const TensorId over = node.step("Add", {node.step("Sqrt", {d.variance}), scalar(node, 1e-9)});
  node.give_like(node.last("Div", {d.away, over}), x.like);
}

namespace {

/// A vector with an element for each channel or, before opset 21, each group.
TensorId of_channels(NodeImport &node, std::size_t input, std::int64_t channels, std::int64_t groups,
                     const char *initial) {
  const Value &vector = node.real_in(input);
  const std::int64_t size = vector.dims == Dims{groups} ? groups : channels;
  if (vector.dims != Dims{size})
    node.fail(fmt::format("input {} '{}' is {}; it must be [{}]", input, vector.name, text_of(vector.dims), channels));
  const TensorId tensor = node.place.arranged(vector, {{{size}}, {0}, {size}}, initial);
  if (size == channels) return tensor;
  Dims group;
  for (std::int64_t channel = 0; channel < channels; ++channel)
    group.push_back(channel / (channels / groups));
  return taken_along(node, tensor, 0, group, false);
}

} // namespace

/// Channels in groups, each normalised with its pixels. They stay last, so no element moves.
void import_group_normalization(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::int64_t groups = node.integer("num_groups", 0);
  if (x.rank() < 3 || groups < 1 || x.dims[1] % groups != 0)
    node.fail(fmt::format("input '{}' is {}; its channels, dimension 1, must be a multiple of 'num_groups' = {}",
                          x.name, text_of(x.dims), groups));
  const Order order = image_order(x.rank());
  const std::int64_t channels = x.dims[1], pixels = product_of({x.dims.begin() + 2, x.dims.end()});
  const TensorId image = node.place.in_order(x, order);
  const TensorId grouped =
      node.step("Reshape", {image}, {{"shape", Dims{x.dims[0], pixels, groups, channels / groups}}}, "groups");
  const Deviation d = deviation_of(node, grouped, {1, 3});
  const TensorId deviation =
      node.step("Sqrt", {node.step("Add", {d.variance, scalar(node, node.real("epsilon", 1e-5))})}, {}, "deviation");
  const TensorId normal =
      node.step("Reshape", {node.step("Div", {d.away, deviation})}, {{"shape", ordered(x.dims, order)}}, "normal");
  const TensorId scaled = node.step("Mul", {normal, of_channels(node, 1, channels, groups, "ones")}, {}, "scaled");
  node.give(node.last("Bias", {scaled, of_channels(node, 2, channels, groups, "zeros")}), order);
}

/// x over (bias + alpha / size times the sum of squares of channels nearby)^beta. The sum is a product with a matrix of
/// ones and zeros, so the array takes it.
void import_lrn(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::int64_t size = node.integer("size", 0);
  if (x.rank() < 2 || size < 1) node.fail("takes channels as dimension 1 and a 'size' of at least 1");
  const Order order = image_order(x.rank());
  const TensorId image = node.place.in_order(x, order);
  const std::int64_t channels = x.dims[1], before = (size - 1) / 2, behind = size - 1 - before;
  std::vector<double> near;
  for (std::int64_t of = 0; of < channels; ++of) // rows: read; columns: results
    for (std::int64_t to = 0; to < channels; ++to)
      near.push_back(of >= to - before && of <= to + behind ? 1 : 0);
  const TensorId band =
      node.build.constant(node.build.fresh(node.name() + ".near"), shape_of(node.build, x.name, {channels, channels}),
                          std::move(near), ElementType::kBf16);
  const TensorId sums = node.step("Gemm", {node.step("Mul", {image, image}, {}, "square"), band}, {}, "sums");
  const TensorId scaled = node.step("Scale", {sums}, {{"value", node.real("alpha", 1e-4) / static_cast<double>(size)}});
  const TensorId base = node.step("Add", {scaled, scalar(node, node.real("bias", 1))}, {}, "base");
  node.give(node.last("Mul", {image, node.step("Pow", {base, scalar(node, -node.real("beta", 0.75))})}), order);
}

} // namespace gradweave::graph::onnx
