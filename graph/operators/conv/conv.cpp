// Conv: the convolution of a layer, and the products of its gradients.
#include "graph/operators/conv/geometry.hpp"
#include "graph/operators/loops/convolve.hpp"
#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

void infer_conv(Inference &op) {
  check_conv_attributes(op);
  const Shape &x = op.shape(0), &w = op.shape(1);
  require_image(op, "x", x);
  check_conv_weights(op, w);
  op.require(x[3] == w[0] * w[3], fmt::format("x is {} and w {}: x has {} channels, and {} groups of {} are {}",
                                              x.text(), w.text(), x[3], w[0], w[3], w[0] * w[3]));
  const Convolution conv = conv_of_weights(op.attributes(), x, w);
  require_fit(op, conv);
  op.set(0, result_shape(conv));
}

void infer_conv_input_gradient(Inference &op) {
  check_conv_attributes(op);
  window_numbers(op, "image", 2, 1);
  require_image(op, "dy", op.shape(0));
  check_conv_weights(op, op.shape(1));
  const Convolution conv =
      conv_of_weights(op.attributes(), conv_image(op.attributes(), op.shape(0), op.shape(1)), op.shape(1));
  require_fit(op, conv);
  require_result(op, conv, op.shape(0));
  op.set(0, image_shape(conv));
}

void infer_conv_weight_gradient(Inference &op) {
  check_conv_attributes(op);
  window_numbers(op, "kernel", 2, 1);
  require_image(op, "x", op.shape(0));
  require_image(op, "dy", op.shape(1));
  const Convolution conv = conv_of_kernel(op.attributes(), op.shape(0), op.shape(1));
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
    convolve(conv_of_weights(k.attributes(), k.in_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0), k.threads());
  }
};

struct ConvInputGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    convolve_back(conv_of_weights(k.attributes(), k.out_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0),
                  k.threads());
  }
};

struct ConvWeightGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    // An initial value goes on with the chain of an earlier micro-batch (N9).
    if (k.has_in(2)) std::copy_n(k.in(2), k.out_shape(0).elements(), k.out(0));
    accumulate_weight_gradient(conv_of_kernel(k.attributes(), k.in_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0),
                               k.threads());
  }
};

void derive_conv(Derivation &d) {
  const Shape &x = d.shape(0), &w = d.shape(1);
  Attributes input = d.attributes(), weights = d.attributes();
  input.set("image", std::vector<std::int64_t>{x[1], x[2]});
  weights.set("kernel", std::vector<std::int64_t>{w[1], w[2]});
  if (d.wants(0)) d.give(0, d.build.add("ConvInputGradient", {d.gradient(), d.input(1)}, input, d.name(0)));
  if (d.wants(1)) d.give(1, d.build.add("ConvWeightGradient", {d.input(0), d.gradient()}, weights, d.name(1)));
}

Lowering lower_conv(const OpView &op) {
  return lowered_conv(ProductKind::kForward, conv_of_weights(op.op.attributes, op.input(0).shape, op.input(1).shape));
}

Lowering lower_conv_input_gradient(const OpView &op) {
  return lowered_conv(ProductKind::kInputGradient,
                      conv_of_weights(op.op.attributes, op.output(0).shape, op.input(1).shape));
}

Lowering lower_conv_weight_gradient(const OpView &op) {
  return lowered_conv(ProductKind::kWeightGradient,
                      conv_of_kernel(op.op.attributes, op.input(0).shape, op.input(1).shape));
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
  forward.infer = infer_conv;
  forward.derive = derive_conv;
  forward.operations = product_operations;
  forward.lower = lower_conv;
  executes_golden<ConvRun>(forward);

  Operator dx;
  dx.name = "ConvInputGradient";
  dx.summary =
      "the gradient of a convolution's image: of each element one sum over taps and output channels, ascending";
  dx.inputs = {{"dy", Takes::kOperand}, {"w", Takes::kOperand}};
  dx.outputs = {{"dx", Gives::kSum}};
  dx.attributes = conv_attributes();
  dx.attributes.push_back({"image", AttributeKind::kIntegers, {}, "[rows, columns] of the image"});
  dx.infer = infer_conv_input_gradient;
  dx.operations = product_operations;
  dx.lower = lower_conv_input_gradient;
  executes_golden<ConvInputGradientRun>(dx);

  Operator dw;
  dw.name = "ConvWeightGradient";
  dw.summary = "the gradient of a convolution's weights, over all output pixels ascending, from the initial value";
  dw.inputs = {{"x", Takes::kOperand}, {"dy", Takes::kOperand}, {"initial", Takes::kFp32, true}};
  dw.outputs = {{"dw", Gives::kFp32}};
  dw.attributes = conv_attributes();
  dw.attributes.push_back({"kernel", AttributeKind::kIntegers, {}, "[rows, columns] of the kernel"});
  dw.infer = infer_conv_weight_gradient;
  dw.operations = product_operations;
  dw.lower = lower_conv_weight_gradient;
  executes_golden<ConvWeightGradientRun>(dw);
  return {forward, dx, dw};
}

} // namespace gradweave::graph
