// Timing of one vector unit as an engine of the NPU (rtl/vector/gw_vector_engine.sv and what it holds).
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/energy/access_counts.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "sw_models/timing/engines/latencies.hpp"
#include "sw_models/timing/engines/progress_log.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <cstdint>

namespace gradweave::timing {

/// It works on one command at a time, and nothing outside changes how long that takes.
class VectorEngine {
public:
  /// Counters count cycles up to and including `limit`.
  VectorEngine(const NpuConfig &npu, std::uint64_t limit, ProgressLog &progress)
      : lanes_(npu.lanes()), groups_(npu.vector_groups), limit_(limit), progress_(progress) {}

  /// First cycle in which a command can start; kNever while one is at work.
  std::uint64_t ready() const { return ready_; }
  void start_program(std::uint64_t cycle, const isa::ProgramCommand &program);
  void start_tile(std::uint64_t cycle, const isa::TileCommand &tiles);
  void start_vector(std::uint64_t cycle, const isa::VectorCommand &run);
  void start_sync(std::uint64_t cycle) { work_until(cycle + latency::kSyncToDone); }

  /// Cycle in which the command at work is done, or in which its fault ends the run; kNever if there is none.
  std::uint64_t next_done() const { return done_; }
  /// Of the command at work, if it has a fault: as ERR_WORD; else 0.
  std::uint32_t fault_word() const { return fault_word_; }
  /// That command is done.
  void complete();

  struct Totals {
    std::uint64_t active = 0;            ///< turns of instructions
    std::uint64_t port = 0;              ///< cycles in which a run of a section waits for its lines, or for room
    std::uint64_t reads = 0, writes = 0; ///< lines
    AccessCounts accesses;               ///< whatever the limit
  };
  const Totals &totals() const { return totals_; }

private:
  void work_until(std::uint64_t done) {
    done_ = done;
    ready_ = kNever;
  }

  std::uint32_t lanes_, groups_;
  std::uint64_t limit_;
  ProgressLog &progress_;
  vector::UnitState state_;
  std::uint64_t ready_ = 0, done_ = kNever;
  std::uint32_t fault_word_ = 0;
  Totals totals_;
};

} // namespace gradweave::timing
