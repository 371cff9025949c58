// Which commands must wait for which, and the semaphore tokens that enforce it.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <array>

namespace gradweave::compiler {

inline constexpr std::size_t kLoadEngine = 0, kStoreEngine = 1, kComputeEngine = 2; ///< core c: kComputeEngine + c
inline constexpr std::size_t kMostEngines = kComputeEngine + 8;

inline std::size_t engine_of(const Action &a) {
  if (a.computes()) return kComputeEngine + a.core;
  return a.kind == Action::Kind::kLoad ? kLoadEngine : kStoreEngine;
}

/// Semaphore on which engine `to` waits for engine `from`. Each has one poster and one taker.
std::uint8_t semaphore(std::size_t from, std::size_t to);
/// Semaphores that a stream for `cores` cores may use.
std::uint32_t semaphores_used(std::uint32_t cores);

/// Waits and posts of one action. Every wait takes one token.
struct Ordering {
  static constexpr std::int32_t kNone = -1;
  Ordering() { after.fill(kNone); }
  std::array<std::int32_t, kMostEngines> after; ///< action to wait for on each engine
  std::array<bool, kMostEngines> posts{};       ///< engines that wait for this action
};

/// The waits that the program's scratchpad and DRAM accesses demand, less those that others imply.
std::vector<Ordering> order_actions(const Program &program, const NpuConfig &npu);

} // namespace gradweave::compiler
