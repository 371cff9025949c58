#include "device/address_space.hpp"

#include "device/device_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime {

std::uint64_t AddressSpace::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0) throw DeviceError("allocate(): 0 bytes of device memory have no address; ask for 1 or more");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw DeviceError(fmt::format("allocate(): an alignment of {} is no power of two", alignment));
  const std::uint64_t behind = (alignment - free_ % alignment) % alignment; // to the next multiple
  const std::uint64_t left = size_ - free_;
  if (behind > left || bytes > left - behind)
    throw DeviceError(fmt::format("allocate(): {} bytes of device memory are wanted, but only {} of {} are free; raise "
                                  "size_bytes in the configuration's [memory]",
                                  bytes, left - std::min(behind, left), size_));
  const std::uint64_t base = free_ + behind;
  free_ = base + bytes;
  return base;
}

void AddressSpace::check(std::uint64_t addr, std::uint64_t bytes) const {
  if (addr > size_ || bytes > size_ - addr)
    throw DeviceError(
        fmt::format("{} bytes at address {:#x} are not inside the device memory of {} bytes", bytes, addr, size_));
}

} // namespace gradweave::runtime
