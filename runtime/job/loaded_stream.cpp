#include "runtime/job/loaded_stream.hpp"

#include <algorithm>

namespace gradweave::runtime {
namespace {

/// No result can be this: as bf16 and as fp32 it is a NaN that is not the canonical one.
constexpr std::uint16_t kPoison = 0xffa5;

} // namespace

void poison(Device &device, std::uint64_t begin, std::uint64_t end) {
  static const std::vector<std::uint16_t> pattern(std::size_t{1} << 19U, kPoison);
  for (std::uint64_t at = begin; at < end; at += 2 * pattern.size())
    device.copy_in(at, pattern.data(), std::min<std::uint64_t>(2 * pattern.size(), end - at));
}

void LoadedStream::fill(const Input &input) {
  poison(device_, base_, base_ + bytes_);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const compiler::TensorBinding &binding = tensors_[i];
    if (!binding.input) continue;
    const HostTensor &tensor = input(i);
    const std::size_t bytes = std::size_t{binding.cols} * tensor.element_bytes();
    const auto *from = static_cast<const std::uint8_t *>(tensor.data());
    for (std::uint32_t row = 0; row < binding.rows; ++row)
      device_.copy_in(address(binding, row), from + row * bytes, bytes);
  }
}

RunStatus LoadedStream::run(const ProgressFunction &progress) {
  device_.submit(base_ == 0 ? stream_ : compiler::relocate(stream_, base_));
  return device_.wait(progress);
}

HostTensor LoadedStream::read(const compiler::TensorBinding &binding) {
  HostTensor tensor(binding.tensor, binding.fp32, binding.rows, binding.cols);
  const std::size_t bytes = std::size_t{binding.cols} * tensor.element_bytes();
  auto *to = static_cast<std::uint8_t *>(tensor.data());
  for (std::uint32_t row = 0; row < binding.rows; ++row)
    device_.copy_out(address(binding, row), to + row * bytes, bytes);
  return tensor;
}

} // namespace gradweave::runtime
