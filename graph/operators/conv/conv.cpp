// Conv: the convolution of a layer, and the products of its gradients.
#include "graph/operators/conv/convolve.hpp"
#include "graph/operators/conv/window.hpp"
#include "graph/operators/entry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

std::uint32_t number(const Attributes &attributes, std::string_view name, std::size_t i) {
  return static_cast<std::uint32_t>(attributes.integers(name)[i]);
}

/// Of attributes that are checked.
Convolution geometry(const Attributes &a, const Shape &image, std::array<std::uint32_t, 2> kernel,
                     std::uint32_t out_channels) {
  Convolution v;
  v.batch = image[0], v.height = image[1], v.width = image[2], v.channels = image[3];
  v.out_channels = out_channels;
  v.kernel_height = kernel[0], v.kernel_width = kernel[1];
  v.stride_height = number(a, "strides", 0), v.stride_width = number(a, "strides", 1);
  v.dilation_height = number(a, "dilations", 0), v.dilation_width = number(a, "dilations", 1);
  v.pad_top = number(a, "pads", 0), v.pad_left = number(a, "pads", 1);
  v.pad_bottom = number(a, "pads", 2), v.pad_right = number(a, "pads", 3);
  v.groups = static_cast<std::uint32_t>(a.integer("group"));
  return v;
}

Convolution of_weights(const Attributes &a, const Shape &image, const Shape &w) {
  return geometry(a, image, {w[1], w[2]}, w[0] * w[4]);
}

Shape image_of(const Attributes &a, const Shape &dy, const Shape &w) {
  return {dy[0], number(a, "image", 0), number(a, "image", 1), w[0] * w[3]};
}

/// Of the gradient with respect to weights.
Convolution of_kernel(const Attributes &a, const Shape &image, const Shape &dy) {
  return geometry(a, image, {number(a, "kernel", 0), number(a, "kernel", 1)}, dy[3]);
}

void check_attributes(const Inference &op) {
  window_numbers(op, "strides", 2, 1);
  window_numbers(op, "dilations", 2, 1);
  window_numbers(op, "pads", 4, 0);
  const std::int64_t group = op.attributes().integer("group");
  op.require(group >= 1 && group <= UINT32_MAX, fmt::format("attribute 'group' = {} must be at least 1", group));
}

void check_weights(const Inference &op, const Shape &w) {
  const std::int64_t group = op.attributes().integer("group");
  op.require(w.rank() == 5, fmt::format("w is {}; it must be [groups, kernel rows, kernel columns, channels / groups, "
                                        "output channels / groups]",
                                        w.text()));
  op.require(w[0] == group,
             fmt::format("w is {}, which has {} groups, and attribute 'group' is {}", w.text(), w[0], group));
  op.require(w[1] <= 65535 && w[2] <= 65535 && double(w[0]) * w[3] <= double(UINT32_MAX) &&
                 double(w[0]) * w[4] <= double(UINT32_MAX),
             fmt::format("w is {}; that is too large for a convolution", w.text()));
}

void infer_forward(Inference &op) {
  check_attributes(op);
  const Shape &x = op.shape(0), &w = op.shape(1);
  require_image(op, "x", x);
  check_weights(op, w);
  op.require(x[3] == w[0] * w[3], fmt::format("x is {} and w {}: x has {} channels, and {} groups of {} are {}",
                                              x.text(), w.text(), x[3], w[0], w[3], w[0] * w[3]));
  const Convolution conv = of_weights(op.attributes(), x, w);
  require_fit(op, conv);
  op.set(0, result_shape(conv));
}

void infer_input_gradient(Inference &op) {
  check_attributes(op);
  window_numbers(op, "image", 2, 1);
  require_image(op, "dy", op.shape(0));
  check_weights(op, op.shape(1));
  const Convolution conv =
      of_weights(op.attributes(), image_of(op.attributes(), op.shape(0), op.shape(1)), op.shape(1));
  require_fit(op, conv);
  require_result(op, conv, op.shape(0));
  op.set(0, image_shape(conv));
}

void infer_weight_gradient(Inference &op) {
  check_attributes(op);
  window_numbers(op, "kernel", 2, 1);
  require_image(op, "x", op.shape(0));
  require_image(op, "dy", op.shape(1));
  const Convolution conv = of_kernel(op.attributes(), op.shape(0), op.shape(1));
  op.require(conv.channels % conv.groups == 0 && conv.out_channels % conv.groups == 0,
             fmt::format("x has {} channels and dy {}: both must be multiples of the {} groups", conv.channels,
                         conv.out_channels, conv.groups));
  require_fit(op, conv);
  require_result(op, conv, op.shape(1));
  const Shape dw{conv.groups, conv.kernel_height, conv.kernel_width, conv.group_channels(), conv.n()};
  op.require(!op.has(2) || op.shape(2) == dw, "the initial value must be of the result's shape, " + dw.text());
  op.set(0, dw);
}

struct ConvRun {
  template <class A> static void run(Kernel<A> &k) {
    convolve(of_weights(k.attributes(), k.in_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0), k.threads());
  }
};

struct ConvInputGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    convolve_back(of_weights(k.attributes(), k.out_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0), k.threads());
  }
};

struct ConvWeightGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    // An initial value goes on with the chain of an earlier micro-batch (N9).
    if (k.has_in(2)) std::copy_n(k.in(2), k.out_shape(0).elements(), k.out(0));
    accumulate_weight_gradient(of_kernel(k.attributes(), k.in_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0),
                               k.threads());
  }
};

void derive_forward(Derivation &d) {
  const Shape &x = d.shape(0), &w = d.shape(1);
  Attributes input = d.attributes(), weights = d.attributes();
  input.set("image", std::vector<std::int64_t>{x[1], x[2]});
  weights.set("kernel", std::vector<std::int64_t>{w[1], w[2]});
  if (d.wants(0)) d.give(0, d.build.add("ConvInputGradient", {d.gradient(), d.input(1)}, input, d.name(0)));
  if (d.wants(1)) d.give(1, d.build.add("ConvWeightGradient", {d.input(0), d.gradient()}, weights, d.name(1)));
}

Lowering lowered(ProductKind kind, const Convolution &conv) {
  return {Product{kind, conv.m(), conv.k(), conv.n(), conv.groups, conv}};
}

Lowering lower_forward(const OpView &op) {
  return lowered(ProductKind::kForward, of_weights(op.op.attributes, op.input(0).shape, op.input(1).shape));
}

Lowering lower_input_gradient(const OpView &op) {
  return lowered(ProductKind::kInputGradient, of_weights(op.op.attributes, op.output(0).shape, op.input(1).shape));
}

Lowering lower_weight_gradient(const OpView &op) {
  return lowered(ProductKind::kWeightGradient, of_kernel(op.op.attributes, op.input(0).shape, op.input(1).shape));
}

/// Of any of the three.
double multiply_adds(const OpView &op) {
  const Product product = *op.op.type->lower(op).product;
  return double(product.m) * product.k * product.n * product.groups;
}

std::vector<AttributeSpec> conv_attributes() {
  std::vector<AttributeSpec> all = stride_and_pad_attributes();
  all.push_back(
      {"dilations", AttributeKind::kIntegers, std::vector<std::int64_t>{1, 1}, "[rows, columns] from tap to tap"});
  all.push_back({"group", AttributeKind::kInteger, std::int64_t{1}, "independent runs of channels"});
  return all;
}

} // namespace

std::vector<Operator> conv_operators() {
  Operator forward;
  forward.name = "Conv";
  forward.summary = "the convolution of an image [batch, rows, columns, channels] with weights [groups, kernel rows, "
                    "kernel columns, channels / groups, output channels / groups]";
  forward.inputs = {{"x", Takes::kOperand}, {"w", Takes::kOperand}};
  forward.outputs = {{"y", Gives::kSum}};
  forward.attributes = conv_attributes();
  forward.infer = infer_forward;
  forward.derive = derive_forward;
  forward.operations = multiply_adds;
  forward.lower = lower_forward;
  executes<ConvRun>(forward);

  Operator dx;
  dx.name = "ConvInputGradient";
  dx.summary = "the gradient of a convolution's image: the sum of each pixel's copies, ascending by tap";
  dx.inputs = {{"dy", Takes::kOperand}, {"w", Takes::kOperand}};
  dx.outputs = {{"dx", Gives::kActivation}}; // N17 rounds the sum to bf16
  dx.attributes = conv_attributes();
  dx.attributes.push_back({"image", AttributeKind::kIntegers, {}, "[rows, columns] of the image"});
  dx.infer = infer_input_gradient;
  dx.operations = multiply_adds;
  dx.lower = lower_input_gradient;
  executes<ConvInputGradientRun>(dx);

  Operator dw;
  dw.name = "ConvWeightGradient";
  dw.summary = "the gradient of a convolution's weights, over all output pixels ascending, from the initial value";
  dw.inputs = {{"x", Takes::kOperand}, {"dy", Takes::kOperand}, {"initial", Takes::kFp32, true}};
  dw.outputs = {{"dw", Gives::kFp32}};
  dw.attributes = conv_attributes();
  dw.attributes.push_back({"kernel", AttributeKind::kIntegers, {}, "[rows, columns] of the kernel"});
  dw.infer = infer_weight_gradient;
  dw.operations = multiply_adds;
  dw.lower = lower_weight_gradient;
  executes<ConvWeightGradientRun>(dw);
  return {forward, dx, dw};
}

} // namespace gradweave::graph
