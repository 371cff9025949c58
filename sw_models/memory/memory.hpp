// Device memory: a large flat byte array whose pages exist only once they are touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradweave {

/// Bytes at addresses 0 to size() - 1, zero at start. Shared by the functional model and the testbench's memory.
class DeviceMemory {
public:
  /// Reserves address space for `bytes`; throws std::runtime_error with the size if the system refuses.
  explicit DeviceMemory(std::uint64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  std::uint64_t size() const { return size_; }
  bool contains(std::uint64_t addr, std::uint64_t bytes) const { return addr <= size_ && bytes <= size_ - addr; }

  /// Copies; throw std::out_of_range naming the range if it leaves the memory.
  void read(std::uint64_t addr, void *out, std::size_t bytes) const;
  void write(std::uint64_t addr, const void *in, std::size_t bytes);

  /// Unchecked access for callers that have checked contains().
  std::uint8_t *data() { return data_; }
  const std::uint8_t *data() const { return data_; }

private:
  void check(std::uint64_t addr, std::uint64_t bytes) const;

  std::uint64_t size_;
  std::uint8_t *data_;
};

} // namespace gradweave
