// Which commands must wait for which, and the semaphore tokens that enforce it.
#pragma once

#include "compiler/program.hpp"

#include <array>

namespace gradweave::compiler {

inline constexpr std::size_t kLoadEngine = 0, kStoreEngine = 1, kComputeEngine = 2, kEngines = 3;

inline std::size_t engine_of(const Action &a) {
  return a.kind == Action::Kind::kLoad ? kLoadEngine : a.kind == Action::Kind::kStore ? kStoreEngine : kComputeEngine;
}

/// Semaphore on which engine `to` waits for engine `from`. Each has one poster and one taker.
std::uint8_t semaphore(std::size_t from, std::size_t to);
/// Semaphores that a stream may use.
inline constexpr std::uint32_t kSemaphoresUsed = 7;

/// Waits and posts of one action. Every wait takes one token.
struct Ordering {
  std::array<std::int32_t, kEngines> after{-1, -1, -1}; ///< action to wait for on each engine; -1: none
  std::array<bool, kEngines> posts{};                   ///< engines that wait for this action
};

/// The waits that the program's scratchpad and DRAM accesses demand, less those that others imply.
std::vector<Ordering> order_actions(const Program &program, const NpuConfig &npu);

} // namespace gradweave::compiler
