// A semaphore for each pair of engines, in all of a stream: who gets a token is then no race.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradweave::compiler {

/// Engines of sections that use the array, too: LOAD, STORE, core 0, and its vector unit.
enum class SectionEngine : std::uint8_t { kLoad, kStore, kArray, kUnit };
inline constexpr std::size_t kSectionEngines = 4;

/// One for each pair, whether they meet or not.
inline constexpr std::uint32_t kPairSemaphores = kSectionEngines * kSectionEngines;

inline std::uint8_t pair_semaphore(std::uint32_t first, std::size_t from, std::size_t to) {
  return static_cast<std::uint8_t>(first + from * kSectionEngines + to);
}
inline std::uint8_t pair_semaphore(std::uint32_t first, SectionEngine from, SectionEngine to) {
  return pair_semaphore(first, static_cast<std::size_t>(from), static_cast<std::size_t>(to));
}

} // namespace gradweave::compiler
