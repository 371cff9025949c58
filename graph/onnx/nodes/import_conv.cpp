// Convolutions.
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

/// An image as the graph has it, [batch, rows, columns, channels]; of a signal, rows are 1.
TensorId image_of(NodeImport &node, const Value &x) {
  const TensorId image = node.place.in_order(x, image_order(x.rank()));
  if (x.rank() == 4) return image;
  return node.step("Reshape", {image}, {{"shape", Dims{x.dims[0], 1, x.dims[2], x.dims[1]}}}, "image");
}

/// Weights [out, in, rows, columns], or the other way round, cut into groups along the first dimension, as
/// [groups, rows, columns, second, first / groups].
TensorId weights_of(NodeImport &node, const Value &w, std::int64_t groups) {
  const std::int64_t first = w.dims[0], second = w.dims[1];
  const bool signal = w.rank() == 3;
  Arrangement arrangement;
  arrangement.cuts = {{groups, first / groups}, {second}, {w.dims[2]}};
  if (!signal) arrangement.cuts.push_back({w.dims[3]});
  arrangement.order = signal ? Order{0, 3, 2, 1} : Order{0, 3, 4, 2, 1};
  arrangement.dims = {groups, signal ? 1 : w.dims[2], signal ? w.dims[2] : w.dims[3], second, first / groups};
  return node.place.arranged(w, arrangement, "kaiming");
}

void check_weights(const NodeImport &node, const Value &x, const Value &w, std::int64_t groups) {
  if (x.rank() != 3 && x.rank() != 4)
    node.fail(fmt::format("input '{}' is {}; images [batch, channels, rows, columns] and signals [batch, channels, "
                          "length] are taken",
                          x.name, text_of(x.dims)));
  if (w.rank() != x.rank())
    node.fail(fmt::format("weights '{}' are {}, and input '{}' {}: both need as many dimensions", w.name,
                          text_of(w.dims), x.name, text_of(x.dims)));
  if (groups < 1 || w.dims[0] % groups != 0)
    node.fail(fmt::format("attribute 'group' = {} does not divide the {} of weights '{}'", groups, w.dims[0], w.name));
  const Dims kernel(w.dims.begin() + 2, w.dims.end());
  if (const Dims asked = node.integers("kernel_shape", kernel); asked != kernel)
    node.fail(fmt::format("attribute 'kernel_shape' = {} and weights '{}', {}, do not agree; export the model again",
                          text_of(asked), w.name, text_of(w.dims)));
}

/// Adds the bias, if there is one, and gives the result.
void give_with_bias(NodeImport &node, std::string_view op, std::vector<TensorId> inputs, const Attributes &attributes,
                    bool signal) {
  const bool biased = node.has_input(2);
  const auto add = [&](std::string_view type, std::vector<TensorId> of, const Attributes &with, bool last,
                       std::string_view suffix) {
    return last ? node.last(type, std::move(of), with) : node.step(type, std::move(of), with, suffix);
  };
  TensorId y = add(op, std::move(inputs), attributes, !biased && !signal, "product");
  if (biased) {
    const Value &b = node.real_in(2);
    if (b.rank() != 1) node.fail(fmt::format("bias '{}' is {}; it must have one dimension", b.name, text_of(b.dims)));
    const TensorId bias = node.place.arranged(b, {{{b.dims[0]}}, {0}, b.dims}, "zeros");
    y = add("Bias", {y, bias}, {}, !signal, "bias");
  }
  if (signal) {
    const Shape shape = node.build.shape(y);
    y = node.last("Reshape", {y}, {{"shape", Dims{shape[0], shape[2], shape[3]}}});
  }
  node.give(y, image_order(signal ? 3 : 4));
}

} // namespace

void import_conv(NodeImport &node) {
  const Value &x = node.real_in(0), &w = node.real_in(1);
  const std::int64_t groups = node.integer("group", 1);
  check_weights(node, x, w, groups);
  if (x.dims[1] != w.dims[1] * groups)
    node.fail(fmt::format("input '{}' has {} channels, and weights '{}' take {} in {} groups", x.name, x.dims[1],
                          w.name, w.dims[1], groups));
  const Window window = window_of(node, x, {w.dims.begin() + 2, w.dims.end()}, {});
  give_with_bias(
      node, "Conv", {image_of(node, x), weights_of(node, w, groups)},
      {{"group", groups}, {"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}},
      x.rank() == 3);
}

namespace {

/// Pads that give the result the size that is asked for, by "output_shape" or, with SAME, the input's times the stride;
/// what the kernel does not reach becomes `extra` behind the last pixel.
void pad_to_result(const NodeImport &node, const Value &x, Window &window, Dims &extra) {
  const std::string how = node.text("auto_pad", "NOTSET");
  const bool same = how == "SAME_UPPER" || how == "SAME_LOWER";
  if (!same && how != "NOTSET" && how != "VALID")
    node.fail(fmt::format("attribute 'auto_pad' = '{}' is not known", how));
  const std::size_t spatial = x.rank() - 2, first = window.axes() - spatial; // of a signal, rows are 1
  if (how == "VALID") window.pads.assign(window.pads.size(), 0);
  Dims sizes = node.integers("output_shape", {});
  if (sizes.empty() && !same) return;
  for (std::size_t d = 0; sizes.size() < spatial && d < spatial; ++d)
    sizes.push_back(x.dims[2 + d] * window.strides[first + d]);
  if (sizes.size() != spatial) node.fail("attribute 'output_shape' needs a number for each dimension");
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::size_t axis = first + d;
    const std::int64_t reach = (x.dims[2 + d] - 1) * window.strides[axis] +
                               window.dilations[axis] * (window.kernel[axis] - 1) + 1 + extra[axis];
    const std::int64_t total = std::max<std::int64_t>(0, reach - sizes[d]);
    extra[axis] += std::max<std::int64_t>(0, sizes[d] - reach);
    window.pads[axis] = how == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads[axis + window.axes()] = total - window.pads[axis];
  }
}

} // namespace

void import_conv_transpose(NodeImport &node) {
  const Value &x = node.real_in(0), &w = node.real_in(1);
  const std::int64_t groups = node.integer("group", 1);
  check_weights(node, x, w, groups);
  if (x.dims[1] != w.dims[0])
    node.fail(
        fmt::format("input '{}' has {} channels, and weights '{}' take {}", x.name, x.dims[1], w.name, w.dims[0]));
  const std::size_t spatial = x.rank() - 2;
  Dims extra = node.integers("output_padding", Dims(spatial, 0));
  if (extra.size() != spatial) node.fail("attribute 'output_padding' needs a number for each dimension");
  if (spatial == 1) extra.insert(extra.begin(), 0);
  Window window = given_window(node, {w.dims.begin() + 2, w.dims.end()});
  pad_to_result(node, x, window, extra);
  give_with_bias(node, "ConvTranspose", {image_of(node, x), weights_of(node, w, groups)},
                 {{"group", groups},
                  {"strides", window.strides},
                  {"pads", window.pads},
                  {"dilations", window.dilations},
                  {"output_padding", extra}},
                 spatial == 1);
}

} // namespace gradweave::graph::onnx
