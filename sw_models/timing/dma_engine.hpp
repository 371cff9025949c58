// What load and store engine have in common: commands in flight and their order (rtl/dma_front.sv, dma_order.sv),
// bursts and their credits (burst_gen.sv, OUTSTANDING).
#pragma once

#include "sw_models/npu_config.hpp"
#include "sw_models/timing/burst_walker.hpp"
#include "sw_models/timing/command_times.hpp"
#include "sw_models/timing/latencies.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::timing {

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

/// Bursts that are issued and not answered. Numbers of bursts count from 0 over the whole run.
class BurstCredits {
public:
  explicit BurstCredits(std::uint32_t outstanding) : outstanding_(outstanding) {
    std::size_t slots = 2;
    while (slots <= outstanding)
      slots *= 2;
    slots_.resize(slots);
    mask_ = slots - 1;
  }

  struct Burst {
    std::uint32_t beats = 0, bytes = 0; ///< bytes of elements
    std::uint32_t offset = 0;           ///< of the first element in the first beat
    bool last = false;                  ///< of its command
  };

  /// First cycle in which the next burst may be issued; kNever if that depends on an answer still unknown.
  std::uint64_t available() const {
    if (issued_ < outstanding_) return 0;
    const std::uint64_t needed = issued_ - outstanding_;
    return needed < answered_ ? slots_[needed & mask_].answer + latency::kAnswerToCredit : kNever;
  }
  void issue(const Burst &burst) { slots_[issued_++ & mask_].burst = burst; }
  const Burst &oldest() const { return slots_[answered_ & mask_].burst; }
  void answer(std::uint64_t cycle) { slots_[answered_++ & mask_].answer = cycle; }

private:
  struct Slot {
    std::uint64_t answer = 0;
    Burst burst;
  };
  std::uint32_t outstanding_;
  std::uint64_t issued_ = 0, answered_ = 0;
  std::vector<Slot> slots_; ///< more than bursts in flight, a power of two
  std::size_t mask_;
};

} // namespace gradweave::timing
