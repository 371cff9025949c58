// A residual network in small: a strided stem of few channels, a pooling, and a block whose image is halved.
#pragma once

#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <cstdint>

namespace gradweave::runtime::train {

/// `pixels` a side of the image, a multiple of 8.
inline graph::Graph small_residual(std::uint32_t batch, std::uint32_t pixels, std::uint32_t width) {
  constexpr const char *kText = R"(graph "small_residual"
let batch = 1
let pixels = 16
let width = 4
input images fp32 [batch, pixels, pixels, 1]
input labels int32 [batch]

block convolution(x, out, kernel, stride)
  parameter weight [1, kernel, kernel, dim(x, -1), out] init "kaiming"
  parameter gamma [out] init "ones"
  parameter beta [out] init "zeros"
  state running_mean [out] init "zeros"
  state running_variance [out] init "ones"
  let padding = (kernel - kernel % 2) / 2
  product = Conv(x, weight) strides=[stride, stride] pads=[padding, padding, padding, padding]
  y, mean, rstd, next_mean, next_variance = BatchNormalization(product, gamma, beta, running_mean, running_variance)
  update running_mean = next_mean
  update running_variance = next_variance
  return y
end

parameter stem.weight [1, 3, 3, 1, 6 * width] init "kaiming"
stem = Conv(images, stem.weight) strides=[2, 2] pads=[1, 1, 1, 1]
stem_active = Relu(stem)
pooled = MaxPool(stem_active) kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1]
before = convolution(pooled, 2 * width, 1, 1) as before
before_active = Relu(before)
narrow = convolution(before_active, width, 1, 2) as reduce
narrow_active = Relu(narrow)
wide = convolution(narrow_active, 2 * width, 3, 1) as expand
shortcut = convolution(before_active, 2 * width, 1, 2) as shortcut
sum = Add(wide, shortcut)
sum_active = Relu(sum)
parameter fc.weight [2 * width, 5] init "lecun"
averages = GlobalAveragePool(sum_active)
features = Flatten(averages)
logits = Gemm(features, fc.weight)
cross_entropy = SoftmaxCrossEntropy(logits, labels)
result logits
loss cross_entropy
)";
  return graph::read_graph(kText, "small_residual", graph::operators(),
                           {{"batch", batch}, {"pixels", pixels}, {"width", width}});
}

} // namespace gradweave::runtime::train
