// What tests of the AXI memory share: a bus, a DRAM, data, and the clock.
#pragma once

#include "tests/tb/axi_master.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gradweave::tb {

inline constexpr unsigned kBus = 16;

inline MemoryConfig dram(std::uint64_t num, std::uint64_t den = 1) {
  MemoryConfig d;
  d.size_bytes = 1 << 20;
  d.bytes_num = num;
  d.bytes_den = den;
  d.latency_cycles = 20;
  d.turnaround_cycles = 8;
  d.batch_bytes = 1024;
  return d;
}

inline std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned seed = 1) {
  std::vector<std::uint8_t> p(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    p[i] = static_cast<std::uint8_t>((i * 7 + i / 251 + seed * 31) & 0xff);
  return p;
}

class AxiMemoryTest : public testing::Test {
protected:
  void start() {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    clock.reset();
  }
  ClockReset clock{"clock", 1000};
};

} // namespace gradweave::tb
