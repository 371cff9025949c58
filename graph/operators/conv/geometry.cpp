#include "graph/operators/conv/geometry.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

std::uint32_t attribute_number(const Attributes &attributes, std::string_view name, std::size_t i) {
  return static_cast<std::uint32_t>(attributes.integers(name)[i]);
}

/// Of attributes that are checked.
Convolution geometry(const Attributes &a, const Shape &image, std::array<std::uint32_t, 2> kernel,
                     std::uint32_t out_channels) {
  Convolution v;
  v.batch = image[0], v.height = image[1], v.width = image[2], v.channels = image[3];
  v.out_channels = out_channels;
  v.kernel_height = kernel[0], v.kernel_width = kernel[1];
  v.stride_height = attribute_number(a, "strides", 0), v.stride_width = attribute_number(a, "strides", 1);
  v.dilation_height = attribute_number(a, "dilations", 0), v.dilation_width = attribute_number(a, "dilations", 1);
  v.pad_top = attribute_number(a, "pads", 0), v.pad_left = attribute_number(a, "pads", 1);
  v.pad_bottom = attribute_number(a, "pads", 2), v.pad_right = attribute_number(a, "pads", 3);
  v.groups = static_cast<std::uint32_t>(a.integer("group"));
  return v;
}

} // namespace

std::vector<AttributeSpec> conv_attributes() {
  std::vector<AttributeSpec> all = stride_and_pad_attributes();
  all.push_back(
      {"dilations", AttributeKind::kIntegers, std::vector<std::int64_t>{1, 1}, "[rows, columns] from tap to tap"});
  all.push_back({"group", AttributeKind::kInteger, std::int64_t{1}, "independent runs of channels"});
  return all;
}

Convolution conv_of_weights(const Attributes &a, const Shape &image, const Shape &w) {
  return geometry(a, image, {w[1], w[2]}, w[0] * w[4]);
}

Shape conv_image(const Attributes &a, const Shape &dy, const Shape &w) {
  return {dy[0], attribute_number(a, "image", 0), attribute_number(a, "image", 1), w[0] * w[3]};
}

Convolution conv_of_kernel(const Attributes &a, const Shape &image, const Shape &dy) {
  return geometry(a, image, {attribute_number(a, "kernel", 0), attribute_number(a, "kernel", 1)}, dy[3]);
}

void check_conv_attributes(const Inference &op) {
  window_numbers(op, "strides", 2, 1);
  window_numbers(op, "dilations", 2, 1);
  window_numbers(op, "pads", 4, 0);
  const std::int64_t group = op.attributes().integer("group");
  op.require(group >= 1 && group <= UINT32_MAX,
             fmt::format("attribute 'group' = {} must be from 1 to {}", group, UINT32_MAX));
}

void check_conv_weights(const Inference &op, const Shape &w) {
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

Lowering lowered_conv(ProductKind kind, const Convolution &conv) {
  return {Product{kind, conv.m(), conv.k(), conv.n(), conv.groups, conv}};
}

double product_operations(const OpView &op) {
  const Product product = *op.op.type->lower(op).product;
  return double(product.m) * product.k * product.n * product.groups;
}

} // namespace gradweave::graph
