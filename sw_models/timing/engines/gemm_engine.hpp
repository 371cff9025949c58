// Timing of one compute engine (rtl/core/gw_gemm_core.sv and what it holds).
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/energy/access_counts.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "sw_models/timing/engines/latencies.hpp"
#include "sw_models/timing/engines/operand_banks.hpp"
#include "sw_models/timing/engines/progress_log.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gradweave::timing {

/// Once a GEMM has started nothing outside the engine changes its course, except that the next GEMM may come in time to
/// follow without a gap, or may not: then a null block flushes the last results. So each GEMM is walked as a whole when
/// it starts, up to the start of its last block; how that block ends is a forecast until the next GEMM starts.
class GemmEngine {
public:
  /// Counters count cycles up to and including `limit`.
  GemmEngine(const NpuConfig &npu, std::uint64_t limit, ProgressLog &progress);

  /// First cycle in which a GEMM, or one of the others (ADD, SYNC), can start, if nothing starts before.
  std::uint64_t gemm_ready() const { return gemm_ready_; }
  std::uint64_t empty_ready() const {
    return in_flight() ? done_[(last_ - 1) % kRing] + latency::kDoneToEmpty : empty_since_;
  }

  void start_gemm(std::uint64_t cycle, const isa::GemmCommand &gemm);
  void start_conv(std::uint64_t cycle, const isa::ConvCommand &conv);
  void start_add(std::uint64_t cycle, const isa::AddCommand &add);
  void start_sync(std::uint64_t cycle) { done_[last_++ % kRing] = cycle + latency::kSyncToDone; }

  /// Cycle in which the oldest command in flight is done; kNever if there is none.
  std::uint64_t next_done() const { return in_flight() ? done_[first_ % kRing] : kNever; }
  /// That command is done.
  void complete() { empty_since_ = done_[first_++ % kRing] + latency::kDoneToEmpty; }

  struct Totals {
    std::uint64_t active = 0; ///< line pairs read
    std::uint64_t bank = 0;   ///< cycles in which a pair was wanted but not complete
    std::uint64_t shadow = 0; ///< other cycles in which a block waited
    std::uint64_t add = 0;    ///< cycles of ADDs
    std::uint64_t blocks = 0; ///< whose results are written
    AccessCounts accesses;    ///< of the array and its side of the scratchpad, whatever the limit
  };
  /// When no GEMM starts any more.
  Totals finish();

private:
  /// A product: a GEMM is one tap that is not moved.
  struct Gemm {
    isa::GemmCommand command;
    isa::ImageWalk image;
    GemmBanks banks;
    std::uint32_t working_steps = 0; ///< that are no bubbles
    std::uint32_t steps() const { return image.taps() * command.k; }
  };
  /// A block, or a null block (gemm is nullptr) that flushes the one before it.
  struct Block {
    const Gemm *gemm = nullptr;
    BlockPlace place;
    std::uint64_t start = 0;
    FeedTimes feed;
    bool real() const { return gemm != nullptr; }
  };
  /// The shadow accumulators once the current block's swap has passed.
  struct Shadow {
    bool initialised = false; ///< holds the next block's initial values; else zeros
    std::uint64_t since = 0;
    std::uint64_t written = 0; ///< all results until now; a pass may begin
  };

  /// All that decides how blocks alike follow the current one: times from its start on.
  struct Pattern {
    std::uint64_t first, last, shadow_since, written;
    bool initialised, drains;
    bool operator==(const Pattern &o) const {
      return first == o.first && last == o.last && shadow_since == o.shadow_since && written == o.written &&
             initialised == o.initialised && drains == o.drains;
    }
  };
  Pattern pattern() const {
    const std::uint64_t start = current_.start;
    return {current_.feed.first - start, current_.feed.last - start, shadow_.since - start,
            shadow_.written - start,     shadow_.initialised,        drains_};
  }
  bool blocks_alike(const Gemm &product) const;
  /// `blocks` more blocks follow, each as the current one followed that from `before`, when the totals were `counted`.
  void repeat(std::uint64_t blocks, std::uint64_t before, const Totals &counted);

  bool in_flight() const { return first_ != last_; }
  std::uint64_t clip(std::uint64_t cycle) const { return std::min(cycle, limit_); }
  std::uint64_t swapped(const Block &block) const;

  /// Results of the block before the current one leave, initial values of `next` (nullptr: none) enter if it is
  /// visible in time. Returns the cycle in which the results are done; kNever if there are none.
  std::uint64_t swap(const Block *next, std::uint64_t visible);
  /// The initial values of `next` enter from cycle `first` on.
  void read_initial(const Block &next, std::uint64_t first);
  std::uint64_t flush_cycle() const { return std::max(current_.feed.last, shadow_.since); }
  void start_null(std::uint64_t cycle);
  /// Moves from the current block to `next`, which is there from cycle `here` on and can start from `visible` on.
  void start_block(const Block &next, std::uint64_t here, std::uint64_t visible);
  void start_product(std::uint64_t cycle, const Gemm &product, std::uint64_t visible);
  std::uint64_t forecast() const;
  void close_feed(std::uint64_t next_here);
  /// What the steps, initial values and results of a product's blocks access.
  void count(const Gemm &product, std::uint64_t block_rows, std::uint64_t block_cols);
  void log_progress();

  std::uint32_t rows_, cols_, lanes_;
  OperandBanks banks_;
  std::uint64_t limit_, drain_;
  ProgressLog &progress_;

  static constexpr std::uint32_t kRing = 8; ///< commands in flight: one more than blocks in hand, at most
  std::array<std::uint64_t, kRing> done_{};
  std::uint32_t first_ = 0, last_ = 0;
  std::uint64_t gemm_ready_ = 0, empty_since_ = 0;

  std::array<Gemm, 2> gemms_; ///< of the current block and of the next
  std::uint32_t gemm_count_ = 0;
  Block current_;
  bool drains_ = false;       ///< the block before the current one is real: its results leave after the swap
  bool swap_pending_ = false; ///< of the current block; else shadow_ says how it ended
  Shadow shadow_;
  InitialReads reads_; ///< during the current block
  Totals totals_;
};

} // namespace gradweave::timing
