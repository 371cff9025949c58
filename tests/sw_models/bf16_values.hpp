// Bits of bf16 values that tests use by name.
#pragma once

#include <cstdint>

namespace gradweave {

inline constexpr std::uint16_t kOne = 0x3F80, kMinusOne = 0xBF80, kPlusZero = 0x0000, kMinusZero = 0x8000;
inline constexpr std::uint16_t kBf16Inf = 0x7F80, kBf16Max = 0x7F7F, kBf16Tiny = 0x0001, kBf16MinusTiny = 0x8001;

} // namespace gradweave
