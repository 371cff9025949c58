// Cycle estimate of a program, for choosing between plans. The RTL, not this, says how long a stream takes.
#pragma once

#include "compiler/hazards.hpp"

#include <vector>

namespace gradweave::compiler {

/// Array cycles of a tile product by the block formula: blocks x max(reduction, shortest block).
std::uint64_t product_cycles(const TileProduct &p, const NpuConfig &npu);

/// Bytes of whole bus beats of one tile row at `address`.
inline std::uint64_t beat_bytes(std::uint64_t address, std::uint64_t bytes, std::uint64_t bus_bytes) {
  return (address + bytes + bus_bytes - 1) / bus_bytes * bus_bytes - address / bus_bytes * bus_bytes;
}

/// Bytes of whole bus beats of a LOAD or STORE.
std::uint64_t bus_bytes_of(const Action &dma, const NpuConfig &npu);

/// Plays the program on three in-order engines that share the DRAM bandwidth.
std::uint64_t estimate_cycles(const Program &program, const std::vector<Ordering> &ordering, const NpuConfig &npu);

} // namespace gradweave::compiler
