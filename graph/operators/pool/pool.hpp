// What pooling operators share: a window over each channel of an image, [batch, rows, columns, channels].
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/window.hpp"

namespace gradweave::graph {

/// kernel_shape, strides, pads.
std::vector<AttributeSpec> pool_attributes();

/// Of attributes that are checked; each channel is a group of its own.
Convolution pool_window(const Attributes &attributes, const Shape &image);

/// Checks attributes, and that they fit the image. A window never lies in padding altogether.
Convolution checked_pool_window(const Inference &op, const Shape &image);

/// Sets the result of a pooling, from an image as input 0.
void infer_pool(Inference &op);

/// Pixels of the smaller of both tensors, the result of a pooling, times those of a window.
double pool_operations(const OpView &op);

} // namespace gradweave::graph
