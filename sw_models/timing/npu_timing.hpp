// The whole NPU: dispatch, queues, semaphores, and the engines (rtl/cmd/gw_command_processor.sv, gw_npu.sv).
#pragma once

#include "isa/command.hpp"
#include "sw_models/timing/engines/command_fetch.hpp"
#include "sw_models/timing/engines/gemm_engine.hpp"
#include "sw_models/timing/engines/memory_system.hpp"
#include "sw_models/timing/engines/vector_engine.hpp"
#include "sw_models/timing/run.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

namespace gradweave::timing {

/// One run. Events are played in the order of their cycles; all that happens in a cycle is seen by others from the next
/// cycle on, so their order within a cycle does not matter (but takes come before posts).
class NpuTiming {
public:
  /// Counters count cycles up to and including `limit`.
  NpuTiming(const Machine &npu, const isa::Command *stream, std::size_t count, const RunOptions &options,
            std::uint64_t limit, ProgressLog &progress);
  /// To the end, the first error, or the limit, where then the watchdog expires; with the host's writes in between.
  /// Throws std::runtime_error if the run has no end.
  RunResult run();

  // The same step by step, for a host that decides as it goes: begin(), then play_until() and write() in turns.
  /// False, with the error in the result, if the NPU refuses the start.
  bool begin();
  /// Plays cycles up to and including `last`; false if the run ended in or before it. Throws as run() for `last`
  /// kNever.
  bool play_until(std::uint64_t last) { return play_until(last, std::numeric_limits<std::size_t>::max()); }
  /// Likewise, but no further than the cycle in which `marks` MARKs have completed since the start.
  bool play_until(std::uint64_t last, std::size_t marks);
  /// The stream lies there now; it has all commands up to any tail that is written.
  void move_stream(const isa::Command *stream) { stream_ = stream; }
  /// The host's write, in its cycle, up to which all was played. False: refused.
  bool write(const HostWrite &write);
  /// Marks that completed so far.
  const std::vector<Mark> &marks() const { return result_.marks; }
  bool ok() const { return result_.ok(); }
  /// The last cycle with an event, or the last of the run.
  std::uint64_t end() const { return end_; }
  RunResult finish();

private:
  static constexpr std::size_t kLoad = 0, kStore = 1, kCore = 2; ///< places of engines; the latter: core 0's
  static constexpr std::size_t kMostInFlight = 8;                ///< commands of an engine

  struct Queued {
    std::uint32_t index = 0;
    isa::Decoded command;
  };
  struct Started {
    std::uint32_t index = 0;
    std::array<std::uint8_t, 3> posts{};
  };
  /// An engine's queue and the commands it has started.
  struct Engine {
    explicit Engine(std::size_t queue_depth) : queue(queue_depth), in_flight(kMostInFlight) {}
    Ring<Queued> queue;
    Ring<Started> in_flight;
    // What candidate() and next_done() say, as it was when anything of the engine changed last
    std::uint64_t next_start = kNever, next_done = kNever;
    std::uint64_t head_since = 0; ///< first cycle in which the head is seen
    std::uint64_t retry = 0;      ///< the head lost the grant, or a semaphore changed
    bool blocked = false;         ///< the head's waits cannot be taken
    std::uint64_t room_since = 0; ///< of the queue
    // Counters
    std::uint64_t last_done = 0;
    bool any_done = false;
    std::uint64_t busy = 0, waiting = 0; ///< cycles with a command in flight; with none, but with a head
  };

  std::uint64_t candidate(std::size_t e) const;
  std::size_t precedence(std::size_t e) const;
  std::uint64_t next_done(std::size_t e) const;
  void changed(std::size_t e) { changed_ |= 1U << e; }
  /// Looks anew at the engines that changed.
  void look();
  std::uint64_t next_event() const;
  void play(std::uint64_t now);
  void plan_dispatch();
  void dispatch(std::uint64_t now);
  void grant(std::uint64_t now);
  bool is_unit(std::size_t e) const { return e >= kCore + cores_.size(); }
  const VectorEngine &unit(std::size_t e) const { return units_[e - kCore - cores_.size()]; }
  VectorEngine &unit(std::size_t e) { return units_[e - kCore - cores_.size()]; }
  void start_work(std::size_t e, std::uint64_t now, const isa::Decoded &command);
  void start_unit(VectorEngine &unit, std::uint64_t now, const isa::Decoded &command);
  bool waits_hold(const isa::Sync &sync) const;
  void start(std::size_t e, std::uint64_t now);
  void complete(std::size_t e, std::uint64_t now);
  void stop(isa::ErrorCode error, std::uint32_t index) {
    if (result_.error == isa::ErrorCode::NONE) {
      result_.error = error;
      result_.error_index = index;
    }
  }
  void expire(std::uint64_t cycle);
  [[noreturn]] void never_ends() const;
  bool running() const { return (retired_ < count_ || open_) && result_.ok() && !result_.given_up; }
  /// The head of the store engine's queue is a MARK for which the log has no room.
  bool mark_blocked() const;
  /// Standing still is the host's to end.
  bool host_is_next() const { return (open_ && retired_ == count_) || mark_blocked(); }
  /// Cycle in which the watchdog stops a run in which nothing happens any more; kNever if something may.
  std::uint64_t expiry() const;
  /// First cycle of that; for a head that is blocked or a ring that is idle.
  std::uint64_t host_since() const;
  void start_mark(std::uint32_t index, std::uint16_t tag, std::uint64_t now);
  bool legal_start() const;
  void fill_counters(std::uint64_t end);
  std::uint64_t stop_cycles();
  void fill_vector_counters(std::uint64_t cycles);
  void set_counter(isa::Counter c, std::uint64_t value, std::uint32_t core = 0) {
    result_.counters[isa::counter_index(c, core, npu_.cores)] = value;
  }
  /// Of a run without an error.
  void count_memory_accesses();

  const Machine &npu_;
  const isa::Command *stream_;
  std::uint64_t count_;
  RunOptions options_;
  std::uint32_t watchdog_;
  std::uint64_t limit_;
  ProgressLog &progress_;
  isa::Limits limits_;

  CommandFetch fetch_;
  MemorySystem memory_;
  std::vector<GemmEngine> cores_;
  std::vector<VectorEngine> units_;
  std::vector<Engine> engines_; ///< load, store, the cores, the vector units
  std::uint32_t changed_ = 0;   ///< a bit an engine
  std::size_t first_ = 0;       ///< of cores and vector units, whose turn it is to start, if several could
  std::vector<std::uint32_t> semaphores_;

  std::uint64_t dispatched_ = 0;
  std::uint64_t dispatch_at_ = kNever; ///< the next command moves, or its error stops the run
  std::uint64_t check_from_ = 0;       ///< dispatch is free
  isa::ErrorCode dispatch_error_ = isa::ErrorCode::NONE;
  std::size_t dispatch_engine_ = 0;
  Queued next_;
  bool decoded_ = false; ///< next_ holds command dispatched_

  bool open_ = false;            ///< the ring
  std::uint32_t marks_held_ = 0; ///< started and not taken
  std::uint64_t mark_room_since_ = 0, marks_full_since_ = 0;
  std::size_t marks_taken_ = 0;
  std::deque<std::pair<std::uint32_t, std::uint16_t>> started_marks_; ///< index, tag

  std::uint64_t retired_ = 0, last_progress_ = 0;
  std::uint64_t end_ = 0;
  RunResult result_;
};

} // namespace gradweave::timing
