// What load and store engine have in common: commands in flight and their order (rtl/dma/gw_dma_front.sv,
// gw_dma_order.sv), bursts and their credits (gw_burst_gen.sv, OUTSTANDING).
#pragma once

#include "sw_models/config/npu_config.hpp"
#include "sw_models/timing/engines/burst_walker.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "sw_models/timing/engines/latencies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::timing {

/// The smallest power of two above `n`.
inline std::size_t power_above(std::size_t n) {
  std::size_t power = 1;
  while (power <= n)
    power *= 2;
  return power;
}

/// First-in first-out queue for at most `most` entries.
template <class T> class Ring {
public:
  explicit Ring(std::size_t most) : slots_(power_above(most)), mask_(slots_.size() - 1) {}
  bool empty() const { return first_ == last_; }
  const T &front() const { return slots_[first_ & mask_]; }
  std::size_t size() const { return last_ - first_; }
  /// The entry behind `n` others.
  const T &at(std::size_t n) const { return slots_[(first_ + n) & mask_]; }
  void push(const T &value) { slots_[last_++ & mask_] = value; }
  void pop(std::size_t n = 1) { first_ += n; }
  /// Writes what is to follow the last entry and `n` more, and then lets so many in: loops that keep their count do.
  void write(std::size_t n, const T &value) { slots_[(last_ + n) & mask_] = value; }
  void let_in(std::size_t n) { last_ += n; }

private:
  std::vector<T> slots_;
  std::size_t mask_, first_ = 0, last_ = 0;
};

/// Commands of one DMA engine from start to completion, in order.
class DmaOrder {
public:
  bool empty() const { return first_ == last_; }
  /// First cycle in which there is room for a further command.
  std::uint64_t room() const { return last_ - first_ < latency::kInFlight ? room_since_ : kNever; }
  void start_transfer() { commands_[last_++ % latency::kInFlight] = {kNever}; }
  void start_sync(std::uint64_t cycle) { commands_[last_++ % latency::kInFlight] = {cycle + latency::kSyncToDone}; }
  /// The oldest transfer that has not ended does so: its last beat or response is there.
  void finish(std::uint64_t cycle) {
    while (commands_[transfer_ % latency::kInFlight] != kNever)
      ++transfer_; // a SYNC
    commands_[transfer_++ % latency::kInFlight] = cycle + latency::kFinishToDone;
  }
  /// Cycle in which the oldest command is done; kNever if there is none or that is not known yet.
  std::uint64_t next_done() const {
    if (empty()) return kNever;
    return std::max(commands_[first_ % latency::kInFlight], not_before_);
  }
  void complete(std::uint64_t cycle) {
    ++first_;
    transfer_ = std::max(transfer_, first_);
    not_before_ = cycle + latency::kDoneToDone;
    room_since_ = cycle + latency::kDoneToOrderRoom;
  }

private:
  std::array<std::uint64_t, latency::kInFlight> commands_{}; ///< earliest completion; kNever: not known
  std::uint32_t first_ = 0, last_ = 0;
  std::uint32_t transfer_ = 0; ///< oldest command that may be a transfer under way
  std::uint64_t not_before_ = 0, room_since_ = 0;
};

/// When a further burst may be issued: when the burst OUTSTANDING before it is answered.
class BurstCredits {
public:
  explicit BurstCredits(std::uint32_t outstanding)
      : outstanding_(outstanding), credits_(power_above(outstanding)), mask_(credits_.size() - 1) {}

  /// First cycle in which the next burst may be issued; kNever if that depends on an answer still unknown.
  std::uint64_t available() const {
    return issued_ - answered_ < outstanding_ ? credits_[(issued_ - outstanding_) & mask_] : kNever;
  }
  void issue(std::uint64_t bursts = 1) { issued_ += bursts; }
  void answer(std::uint64_t cycle) { credits_[answered_++ & mask_] = cycle + latency::kAnswerToCredit; }

  // Loops over bursts keep count themselves, and tell at their end:
  /// Bursts that may be issued by answers that are known.
  std::uint64_t room() const { return outstanding_ - (issued_ - answered_); }
  /// available() after `n` bursts more, fewer than room().
  std::uint64_t available_after(std::uint64_t n) const { return credits_[(issued_ + n - outstanding_) & mask_]; }
  /// The answer behind `n` others that are not counted yet.
  void write_answer(std::uint64_t n, std::uint64_t cycle) {
    credits_[(answered_ + n) & mask_] = cycle + latency::kAnswerToCredit;
  }
  void count_answers(std::uint64_t n) { answered_ += n; }

private:
  std::uint32_t outstanding_;
  std::vector<std::uint64_t> credits_; ///< of the last bursts, by number; 0 before the first
  std::size_t mask_;
  std::uint64_t issued_ = 0, answered_ = 0;
};

} // namespace gradweave::timing
