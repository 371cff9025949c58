// Whole numbers of units.
#pragma once

#include <cstdint>

namespace gradweave::compiler {

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit; }

} // namespace gradweave::compiler
