// What load and store engine have in common: commands in flight and their order (rtl/dma/gw_dma_front.sv,
// gw_dma_order.sv), bursts and their credits (gw_burst_gen.sv, OUTSTANDING).
#pragma once

#include "sw_models/config/npu_config.hpp"
#include "sw_models/memory/dram_channel.hpp"
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
  T &front() { return slots_[first_ & mask_]; }
  std::size_t size() const { return last_ - first_; }
  /// The one that was pushed last.
  T &back() { return slots_[(last_ - 1) & mask_]; }
  /// The one behind the front, of two or more.
  T &second() { return slots_[(first_ + 1) & mask_]; }
  void push(const T &value) { slots_[last_++ & mask_] = value; }
  void pop() { ++first_; }

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

/// When further bursts may be issued: each when the burst OUTSTANDING before it is answered.
class BurstCredits {
public:
  using Pace = DramChannel::Pace;
  /// Credits one after the other: the first cycles in which their bursts may be issued are those in which, or before
  /// which, the times begin.
  struct Run {
    Pace cycles;
    std::uint64_t count = 0;
  };

  explicit BurstCredits(std::uint32_t outstanding) : runs_(outstanding), known_(outstanding) {
    runs_.push({{}, outstanding});
  }

  /// Credits whose cycles are known.
  std::uint64_t known() const { return known_; }
  /// First cycle in which the next burst may be issued; kNever if that depends on an answer still unknown.
  std::uint64_t available() const { return known_ == 0 ? kNever : runs_.front().cycles.first.ceil(); }
  /// The next credits, some of which are known. None is used before cycle `now`, so it makes no difference when those
  /// came that are there by then: they are one entry.
  const Run &next(std::uint64_t now, const DramChannel &channel) {
    const auto came = [&](const Run &run) { return channel.at(run.cycles, run.count - 1).ceil() <= now; };
    while (runs_.size() > 1 && came(runs_.front()) && came(runs_.second())) {
      runs_.second().cycles = {};
      runs_.second().count += runs_.front().count;
      runs_.pop();
    }
    return runs_.front();
  }
  /// Bursts are issued with the first of next().
  void issue(std::uint64_t bursts, const DramChannel &channel) {
    Run &run = runs_.front();
    known_ -= bursts;
    run.count -= bursts;
    if (run.count == 0)
      runs_.pop();
    else
      run.cycles.first = channel.at(run.cycles, bursts);
  }
  /// A burst is answered in a cycle. Where that is one after the answer before, as it is as long as the bus is the
  /// slowest, both credits are of one run.
  void answer(std::uint64_t cycle) {
    const std::uint64_t credit = cycle + latency::kAnswerToCredit;
    ++known_;
    if (!runs_.empty() && follows(runs_.back(), credit)) {
      runs_.back().cycles.step = {1, 0};
      ++runs_.back().count;
    } else {
      runs_.push({{{credit, 0}, {}}, 1});
    }
  }
  /// Bursts are answered at these times.
  void answer(const Pace &cycles, std::uint64_t bursts) {
    known_ += bursts;
    runs_.push({cycles.later(latency::kAnswerToCredit), bursts});
  }

private:
  /// Whether the run's credits come one a cycle, the last of them in the cycle before this one.
  static bool follows(const Run &run, std::uint64_t cycle) {
    const auto &[first, step] = run.cycles;
    const bool each_cycle = run.count == 1 || (step.cycle == 1 && step.ticks == 0);
    return each_cycle && first.ticks == 0 && first.cycle + run.count == cycle;
  }

  Ring<Run> runs_;
  std::uint64_t known_;
};

} // namespace gradweave::timing
