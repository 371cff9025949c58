#include "runtime/job/loaded_stream.hpp"

#include <algorithm>

namespace gradweave::runtime {
namespace {

/// No result can be this: as bf16 and as fp32 it is a NaN that is not the canonical one. Device memory is filled with
/// it before a run, so that an element which is never stored cannot pass by luck.
constexpr std::uint16_t kPoison = 0xffa5;

} // namespace

void LoadedStream::fill(const Input &input) {
  const std::vector<std::uint16_t> poison(std::size_t{1} << 19U, kPoison);
  for (std::uint64_t at = 0; at < bytes_; at += 2 * poison.size())
    device_.copy_in(base_ + at, poison.data(), std::min<std::uint64_t>(2 * poison.size(), bytes_ - at));
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
