// Runs a plan on the boards of a simulation: begins each command when all that it waits for has been told to have
// ended.
#pragma once

#include "device/system_devices.hpp"
#include "sw_models/system/fabric.hpp"
#include "tb/board.hpp"
#include "tb/fabric/wires.hpp"
#include "tb/system/board_run.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

namespace gradweave::tb {

/// All in events: no clock of its own. Boards are apart from the kernel: those with a stream run in threads of their
/// own, and an event waits until it is known that no board's end comes before it.
class Sequencer : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(Sequencer);
  /// `watchdogs`: of the boards' NPUs, in cycles.
  Sequencer(const sc_core::sc_module_name &name, std::vector<Board *> boards, std::vector<std::uint64_t> watchdogs,
            Wires &wires, const SystemFaults &faults);

  /// Host, in the kernel: gates all clocks, and begins the plan at a time from which edges of all boards count. Both
  /// references outlive the plan.
  void begin(const SystemPlan &plan, SystemHost &host);
  /// The plan is at its end, or failed; the simulation was paused then.
  bool over() const { return over_; }
  /// Nothing in the simulation can happen any more, and the plan is not over.
  void fail_idle();
  /// Host: after the plan, which it takes the outcome of; rethrows what the host threw. Clocks run again unless it
  /// failed.
  SystemOutcome end();

private:
  void step();
  void begin_command(CommandId id);
  void begin_stream(CommandId id);
  void end_streams();
  void end_stream(CommandId id);
  void end_command(CommandId id);
  void play_fabric();
  void carry(const Fabric::Happening &part);
  void tell(const std::vector<CommandId> &ready);
  void plan_step();
  std::uint64_t first_end_until(std::uint64_t time);
  void fail(CommandId id, std::uint32_t device, const std::string &problem);
  void finish();
  /// Calls the host, whose exceptions end the plan.
  template <class Call> void ask_host(const Call &call);
  std::uint64_t now() const;

  std::vector<Board *> boards_;
  std::vector<std::uint64_t> watchdogs_;
  Wires &wires_;
  SystemFaults faults_;
  std::mt19937_64 random_;
  sc_core::sc_event event_;

  // Of a plan:
  const SystemPlan *plan_ = nullptr;
  SystemHost *host_ = nullptr;
  sc_core::sc_time start_;
  std::optional<Fabric> fabric_;
  std::optional<PlanProgress> progress_;
  using Ready = std::pair<std::uint64_t, CommandId>; ///< time, command
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::map<CommandId, std::unique_ptr<BoardRun>> running_; ///< streams
  SystemOutcome outcome_;
  std::exception_ptr host_error_;
  bool over_ = true;
};

} // namespace gradweave::tb
