// The timing model of a whole system: exact times of all commands of a plan, without data.
#pragma once

#include "sw_models/system/fabric.hpp"
#include "sw_models/system/system_faults.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace gradweave {

/// Clock cycles that a stream takes besides those of its run, from the edge at which the host begins to the one at
/// which it knows how the stream ended: register accesses (tb/run_control.cpp), the time that the memory takes to turn
/// around, and, after an error, that in which the bus gets quiet.
std::uint64_t host_cycles(const Machine &machine, const timing::RunResult &run);

/// What stopped a plan, at SystemTimes::end: a stream with an error, which the host knows of then, or a packet or block
/// at fault.
struct SystemStop {
  CommandId id = 0;
  isa::ErrorCode error = isa::ErrorCode::NONE; ///< of a stream
  std::uint32_t error_index = 0;               ///< of its command
};

struct SystemTimes {
  /// Of each command. One that did not begin has {0, 0}; one that was under way when the plan stopped, an end of 0, but
  /// for the stream that stopped it.
  std::vector<CommandSpan> spans;
  std::uint64_t end = 0; ///< ps
  std::optional<SystemStop> stop;
  std::vector<std::shared_ptr<const timing::RunResult>> runs; ///< of each command; null but for streams that began
  std::vector<std::uint64_t> link_busy_ps, flash_busy_ps;     ///< by device
};

/// Plans on one system. Streams that were timed are remembered, by device, place and the stream's address.
class SystemTiming {
public:
  explicit SystemTiming(const SystemConfig &system) : system_(system) {}

  /// All commands of a plan for this system, up to the first that stops it. Stalls at random are not followed.
  SystemTimes run(const SystemPlan &plan, const SystemFaults &faults = {});
  /// From the clock edge at which a stream begins to its end, ps.
  std::uint64_t stream_ps(const SystemCommand &command);

private:
  std::shared_ptr<const timing::RunResult> time(const SystemCommand &command);

  const SystemConfig &system_;
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::shared_ptr<const std::vector<isa::Command>>>;
  std::map<Key, std::shared_ptr<const timing::RunResult>> known_;
};

} // namespace gradweave
