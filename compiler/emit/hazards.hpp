// Which commands must wait for which, and the semaphore tokens that enforce it.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gradweave::compiler {

inline constexpr std::size_t kLoadEngine = 0, kStoreEngine = 1, kComputeEngine = 2; ///< core c: kComputeEngine + c
inline constexpr std::size_t kMostEngines = kComputeEngine + 8;

/// Of all but a piece of the vector unit's, whose commands are of several engines and wait for one another.
inline std::size_t engine_of(const Action &a) {
  if (a.computes()) return kComputeEngine + a.core;
  return a.kind == Action::Kind::kLoad || a.kind == Action::Kind::kGate ? kLoadEngine : kStoreEngine;
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

/// The engines that an action waits for, and those that wait for it, a bit each.
struct Handshake {
  std::uint16_t waits = 0, posts = 0;
};

/// The orderings of a program's actions, in little memory.
class Orderings {
public:
  explicit Orderings(std::size_t engines) : engines_(engines) {}

  std::size_t size() const { return size_; }
  const std::vector<Handshake> &handshakes() const { return handshakes_; }
  /// Of orderings that are needed no more: all that commands need of them.
  std::vector<Handshake> take_handshakes() { return std::move(handshakes_); }
  /// Actions that are new wait for none.
  void resize(std::size_t actions) {
    if (actions > handshakes_.size()) {
      const std::size_t room = std::max(actions, 2 * handshakes_.size());
      after_.resize(room * engines_);
      handshakes_.resize(room);
    }
    for (std::size_t i = size_ * engines_; i < actions * engines_; ++i)
      after_[i] = Ordering::kNone;
    for (std::size_t i = size_; i < actions; ++i)
      handshakes_[i] = {};
    size_ = actions;
  }
  Ordering operator[](std::size_t action) const;
  /// Ordering::after of the action, for the engines that there are.
  const std::int32_t *after(std::size_t action) const { return &after_[action * engines_]; }

  /// The action waits for another, of this engine; that one posts to the waiting one's.
  void wait(std::size_t action, std::size_t engine, std::size_t other, std::size_t other_engine) {
    after_[action * engines_ + other_engine] = static_cast<std::int32_t>(other);
    Handshake &mine = handshakes_[action], &others = handshakes_[other];
    mine.waits = static_cast<std::uint16_t>(mine.waits | 1U << other_engine);
    others.posts = static_cast<std::uint16_t>(others.posts | 1U << engine);
  }

private:
  std::size_t engines_, size_ = 0;
  std::vector<std::int32_t> after_; ///< by action and engine; longer than needed, likewise handshakes_
  std::vector<Handshake> handshakes_;
};

/// The waits that the program's scratchpad and DRAM accesses demand, less those that others imply.
Orderings order_actions(const Program &program, const NpuConfig &npu);

/// The same of a program that grows.
class RunningOrder {
public:
  /// The NPU must outlive the object.
  explicit RunningOrder(const NpuConfig &npu);
  ~RunningOrder();
  RunningOrder(const RunningOrder &) = delete;
  RunningOrder &operator=(const RunningOrder &) = delete;

  /// Another program is to come.
  void begin();
  /// Those of all actions that the program has by now. It is the one of the calls before, with more actions behind.
  const Orderings &follow(const Program &program);

  class Orderer;

private:
  std::unique_ptr<Orderer> orderer_;
};

} // namespace gradweave::compiler
