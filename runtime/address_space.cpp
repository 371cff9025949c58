#include "runtime/address_space.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::runtime {

std::uint64_t AddressSpace::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t base = (free_ + alignment - 1) & ~(alignment - 1);
  if (base > size_ || bytes > size_ - base)
    throw std::runtime_error(fmt::format("{} bytes of device memory are wanted, but only {} of {} are free; raise "
                                         "size_bytes in the configuration's [dram]",
                                         bytes, size_ - free_, size_));
  free_ = base + bytes;
  return base;
}

void AddressSpace::check(std::uint64_t addr, std::uint64_t bytes) const {
  if (addr > size_ || bytes > size_ - addr)
    throw std::out_of_range(
        fmt::format("{} bytes at address {:#x} are not inside the device memory of {} bytes", bytes, addr, size_));
}

} // namespace gradweave::runtime
