#include "train/data/tensor_bytes.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <cstring>

namespace gradweave::runtime::train {

std::uint64_t bytes_of_tensor(const graph::Tensor &tensor) {
  return tensor.shape.elements() * graph::bytes_of(tensor.type);
}

std::vector<std::uint8_t> to_bytes(const graph::Tensor &tensor, const graph::Buffer<graph::Contract> &values) {
  std::vector<std::uint8_t> bytes(bytes_of_tensor(tensor));
  const std::size_t size = graph::bytes_of(tensor.type), elements = tensor.shape.elements();
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint32_t bits =
        graph::is_real(tensor.type) ? bits_of_fp32(values.real[i]) : static_cast<std::uint32_t>(values.index[i]);
    if (tensor.type == graph::ElementType::kBf16) bits >>= 16U;
    std::memcpy(bytes.data() + i * size, &bits, size); // little-endian
  }
  return bytes;
}

graph::Buffer<graph::Contract> from_bytes(const graph::Tensor &tensor, const std::vector<std::uint8_t> &bytes) {
  graph::Buffer<graph::Contract> values;
  const std::size_t size = graph::bytes_of(tensor.type), elements = tensor.shape.elements();
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    if (tensor.type == graph::ElementType::kBf16) bits <<= 16U;
    if (graph::is_real(tensor.type))
      values.real.push_back(fp32_from_bits(bits));
    else
      values.index.push_back(static_cast<std::int32_t>(bits));
  }
  return values;
}

} // namespace gradweave::runtime::train
