// Hands out the addresses of a device's memory, lowest first; nothing is ever given back.
#pragma once

#include <cstdint>

namespace gradweave::runtime {

class AddressSpace {
public:
  explicit AddressSpace(std::uint64_t bytes) : size_(bytes) {}

  std::uint64_t size() const { return size_; }
  /// Reserves `bytes` (at least 1) at a multiple of `alignment` (a power of two). Throws DeviceError with both sizes
  /// and the remedy when the memory is full.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);
  /// Throws DeviceError naming the range if [addr, addr + bytes) leaves the memory.
  void check(std::uint64_t addr, std::uint64_t bytes) const;

private:
  std::uint64_t size_;
  std::uint64_t free_ = 0; ///< first address that is not taken
};

} // namespace gradweave::runtime
