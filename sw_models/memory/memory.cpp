#include "sw_models/memory/memory.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace gradweave {

DeviceMemory::DeviceMemory(std::uint64_t bytes) : size_(bytes), data_(nullptr) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw std::runtime_error(fmt::format("cannot reserve {} bytes of address space for the device memory: {}; use a "
                                         "smaller size_bytes in the configuration's [memory]",
                                         bytes, std::strerror(errno)));
  data_ = static_cast<std::uint8_t *>(p);
}

DeviceMemory::~DeviceMemory() { munmap(data_, size_); }

void DeviceMemory::check(std::uint64_t addr, std::uint64_t bytes) const {
  if (!contains(addr, bytes))
    throw std::out_of_range(
        fmt::format("{} bytes at device address {:#x} leave the memory of {} bytes", bytes, addr, size_));
}

void DeviceMemory::read(std::uint64_t addr, void *out, std::size_t bytes) const {
  check(addr, bytes);
  if (bytes != 0) std::memcpy(out, data_ + addr, bytes);
}

void DeviceMemory::write(std::uint64_t addr, const void *in, std::size_t bytes) {
  check(addr, bytes);
  if (bytes != 0) std::memcpy(data_ + addr, in, bytes);
}

} // namespace gradweave
