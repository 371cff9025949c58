// ConvTranspose: what the gradient of a convolution's image is, as a layer.
#include "graph/operators/conv/geometry.hpp"
#include "graph/operators/loops/convolve.hpp"
#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct ConvTransposeRun {
  /// x is the convolution's dY and the result its dX.
  template <class A> static void run(Kernel<A> &k) {
    convolve_back(conv_of_weights(k.attributes(), k.out_shape(0), k.in_shape(1)), k.in(0), k.in(1), k.out(0),
                  k.threads());
  }
};

/// Rows or columns of the result: what a convolution would have to read for `in` pixels to come out, and `more`.
std::uint32_t transposed_size(const Inference &op, std::size_t axis, std::uint32_t in, std::uint32_t kernel) {
  const Attributes &a = op.attributes();
  const auto at = [&a](std::string_view name, std::size_t i) { return a.integers(name)[i]; };
  const std::int64_t stride = at("strides", axis), more = at("output_padding", axis);
  const std::int64_t span = (in - std::int64_t{1}) * stride + at("dilations", axis) * (kernel - std::int64_t{1}) + 1;
  const std::int64_t size = span - at("pads", axis) - at("pads", axis + 2) + more;
  if (more >= stride)
    op.fail(fmt::format("attribute 'output_padding' = {} must be below 'strides' = {}",
                        to_string(Attribute(a.integers("output_padding"))),
                        to_string(Attribute(a.integers("strides")))));
  if (size < 1 || size > INT32_MAX)
    op.fail(fmt::format("the result would have {} pixels along axis {}; pad less", size, axis + 1));
  return static_cast<std::uint32_t>(size);
}

void infer_conv_transpose(Inference &op) {
  check_conv_attributes(op);
  window_numbers(op, "output_padding", 2, 0);
  const Shape &x = op.shape(0), &w = op.shape(1);
  require_image(op, "x", x);
  check_conv_weights(op, w);
  op.require(x[3] == w[0] * w[4], fmt::format("x is {} and w {}: x has {} channels, and {} groups of {} are {}",
                                              x.text(), w.text(), x[3], w[0], w[4], w[0] * w[4]));
  const Shape y{x[0], transposed_size(op, 0, x[1], w[1]), transposed_size(op, 1, x[2], w[2]), w[0] * w[3]};
  const Convolution conv = conv_of_weights(op.attributes(), y, w);
  require_fit(op, conv);
  require_result(op, conv, x);
  op.set(0, y);
}

void derive_conv_transpose(Derivation &d) {
  Attributes conv;
  for (const char *name : {"strides", "pads", "dilations", "group"})
    conv.set(name, d.attributes().all().find(name)->second);
  if (d.wants(0)) d.give(0, d.build.add("Conv", {d.gradient(), d.input(1)}, conv, d.name(0)));
  if (!d.wants(1)) return;
  conv.set("kernel", std::vector<std::int64_t>{d.shape(1)[1], d.shape(1)[2]});
  d.give(1, d.build.add("ConvWeightGradient", {d.gradient(), d.input(0)}, conv, d.name(1)));
}

Lowering lower_conv_transpose(const OpView &op) {
  return lowered_conv(ProductKind::kInputGradient,
                      conv_of_weights(op.op.attributes, op.output(0).shape, op.input(1).shape));
}

} // namespace

std::vector<Operator> conv_transpose_operators() {
  Operator op;
  op.name = "ConvTranspose";
  op.summary = "the image's gradient of a convolution with these weights, x taken for that of its result; weights are "
               "[groups, kernel rows, kernel columns, output channels / groups, channels / groups]";
  op.inputs = {{"x", Takes::kOperand}, {"w", Takes::kOperand}};
  op.outputs = {{"y", Gives::kSum}};
  op.attributes = conv_attributes();
  op.attributes.push_back({"output_padding", AttributeKind::kIntegers, std::vector<std::int64_t>{0, 0},
                           "[rows, columns] more of the result than x reaches"});
  op.infer = infer_conv_transpose;
  op.derive = derive_conv_transpose;
  op.operations = product_operations;
  op.lower = lower_conv_transpose;
  executes_golden<ConvTransposeRun>(op);
  return {op};
}

} // namespace gradweave::graph
