// A compiled stream on a device: a place for its tensors in device memory, filling them, running, reading results.
#pragma once

#include "device/device.hpp"
#include "runtime/data/tensor.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gradweave::runtime {

/// Fills device memory from `begin` to `end`, bytes, with what no result can be, so that an element which is never
/// stored cannot pass by luck.
void poison(Device &device, std::uint64_t begin, std::uint64_t end);

/// The references must outlive the object.
class LoadedStream {
public:
  /// Allocates `dram_bytes`: the tensors' places and spill space.
  LoadedStream(Device &device, const std::vector<compiler::TensorBinding> &tensors,
               const std::vector<isa::Command> &stream, std::uint64_t dram_bytes)
      : LoadedStream(device, tensors, stream, dram_bytes, device.allocate(dram_bytes)) {}
  /// In memory that was allocated before, from `base` on.
  LoadedStream(Device &device, const std::vector<compiler::TensorBinding> &tensors,
               const std::vector<isa::Command> &stream, std::uint64_t dram_bytes, std::uint64_t base)
      : device_(device), tensors_(tensors), stream_(stream), bytes_(dram_bytes), base_(base) {}

  /// Contents of the input with this index among the tensors.
  using Input = std::function<const HostTensor &(std::size_t)>;
  /// Fills all memory with what no result can be, then the inputs with their contents.
  void fill(const Input &input);
  RunStatus run(const ProgressFunction &progress);
  HostTensor read(const compiler::TensorBinding &binding);

private:
  std::uint64_t address(const compiler::TensorBinding &binding, std::uint32_t row) const {
    return base_ + binding.offset + std::uint64_t{row} * binding.pitch;
  }

  Device &device_;
  const std::vector<compiler::TensorBinding> &tensors_;
  const std::vector<isa::Command> &stream_;
  std::uint64_t bytes_, base_;
};

} // namespace gradweave::runtime
