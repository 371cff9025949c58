// Tensors of a network as files have them: arranged as where the network came from arranges them.
#pragma once

#include "graph/ir/graph.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// What a file has for `tensor`, which lies in files as `arranged` does: a parameter itself, a gradient as its
/// parameter.
inline std::vector<std::uint64_t> shape_in_file(const graph::Tensor &tensor, const graph::Tensor &arranged) {
  const graph::Shape &shape = arranged.origin ? arranged.origin->shape : tensor.shape;
  return {shape.dims().begin(), shape.dims().end()};
}
inline std::vector<std::uint64_t> shape_in_file(const graph::Tensor &tensor) { return shape_in_file(tensor, tensor); }

/// Elements of a file, in the order of the network.
template <typename T> std::vector<T> from_file(const graph::Tensor &arranged, std::vector<T> values) {
  return arranged.origin ? graph::from_file(*arranged.origin, values) : values;
}

/// Elements of the network, in the order of the file.
template <typename T> std::vector<T> to_file(const graph::Tensor &arranged, const std::vector<T> &values) {
  return arranged.origin ? graph::to_file(*arranged.origin, values) : values;
}

} // namespace gradweave::runtime::train
