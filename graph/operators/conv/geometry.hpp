// The geometry of convolutions, from shapes and attributes of ops.
#pragma once

#include "graph/operators/loops/window.hpp"

#include <array>

namespace gradweave::graph {

/// strides, pads, dilations, group.
std::vector<AttributeSpec> conv_attributes();
/// Fails unless these are well formed.
void check_conv_attributes(const Inference &op);
/// Fails unless input `w` is [groups, kernel rows, kernel columns, channels / groups, output channels / groups].
void check_conv_weights(const Inference &op, const Shape &w);

// Of attributes and shapes that are checked.

Convolution conv_of_weights(const Attributes &attributes, const Shape &image, const Shape &w);
/// Attribute 'kernel' stands for the weights.
Convolution conv_of_kernel(const Attributes &attributes, const Shape &image, const Shape &dy);
/// Image of attribute 'image' [rows, columns].
Shape conv_image(const Attributes &attributes, const Shape &dy, const Shape &w);

/// One of a convolution's three products.
Lowering lowered_conv(ProductKind kind, const Convolution &conv);
/// Multiply-adds of an op that is lowered to a product.
double product_operations(const OpView &op);

} // namespace gradweave::graph
