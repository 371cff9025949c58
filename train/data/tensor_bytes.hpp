// A tensor's elements as bytes of a device's memory: row-major without gaps, little-endian, bf16 in two bytes.
#pragma once

#include "graph/golden/kernel.hpp"
#include "graph/ir/graph.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

std::uint64_t bytes_of_tensor(const graph::Tensor &tensor);
/// `values` has as many elements as the tensor; those of bf16 widened.
std::vector<std::uint8_t> to_bytes(const graph::Tensor &tensor, const graph::Buffer<graph::Contract> &values);
/// The other way: bytes_of_tensor() bytes.
graph::Buffer<graph::Contract> from_bytes(const graph::Tensor &tensor, const std::vector<std::uint8_t> &bytes);

} // namespace gradweave::runtime::train
