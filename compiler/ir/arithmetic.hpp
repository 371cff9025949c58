// Whole numbers of units.
#pragma once

#include <cstdint>

namespace gradweave::compiler {

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit; }

/// Of `size` things, how many there are from `first`, one of them, on if but every `stride`-th counts.
inline std::uint32_t count_every(std::uint32_t stride, std::uint32_t first, std::uint32_t size) {
  return (size - first - 1) / stride + 1;
}

} // namespace gradweave::compiler
