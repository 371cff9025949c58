// Several devices that work on one plan, whatever executes them.
#pragma once

#include "device/device.hpp"
#include "sw_models/system/system_faults.hpp"
#include "sw_models/system/system_plan.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave {

struct SystemOptions {
  std::vector<DeviceOptions> devices; ///< by device; empty: none has any
  SystemFaults faults;
};

/// The host's part of a plan: data in and out. Both are called while the simulated time stands still.
class SystemHost {
public:
  SystemHost() = default;
  SystemHost(const SystemHost &) = delete;
  SystemHost &operator=(const SystemHost &) = delete;
  virtual ~SystemHost() = default;

  /// A command begins: all that it waited for has ended, and its operands have to be in memory or flash when this
  /// returns.
  virtual void begin(CommandId id) = 0;
  /// A command has ended without an error; its results are there. What is wrong with them, or nothing: a problem ends
  /// the plan.
  virtual std::optional<std::string> end(CommandId id) = 0;
};

/// What ended a plan early.
struct SystemFailure {
  CommandId id = 0;
  std::uint32_t device = 0;
  std::string text; ///< for people: device, command with its label, what happened
};

struct SystemOutcome {
  std::vector<CommandSpan> spans;                       ///< of each command; {0, 0} of one that did not begin
  std::vector<std::vector<timing::CommandTimes>> times; ///< of each stream's commands
  std::uint64_t end = 0;                                ///< ps from the plan's begin
  std::optional<SystemFailure> failure;

  bool ok() const { return !failure; }
};

class SystemDevices {
public:
  SystemDevices() = default;
  SystemDevices(const SystemDevices &) = delete;
  SystemDevices &operator=(const SystemDevices &) = delete;
  virtual ~SystemDevices() = default;

  virtual const SystemConfig &system() const = 0;
  /// For its memory, which can be used at any time.
  virtual Device &device(std::uint32_t index) = 0;
  /// Fills a device's flash. Throws DeviceError if the range leaves it, or there is none.
  virtual void write_flash(std::uint32_t device, std::uint64_t addr, const void *data, std::size_t bytes) = 0;
  /// What is in a device's flash. Throws as write_flash().
  virtual void read_flash(std::uint32_t device, std::uint64_t addr, void *data, std::size_t bytes) = 0;
  /// Runs a plan for this system to its end or to what stops it: an error code of an NPU, a link or block at fault, a
  /// device that does nothing any more, a problem that the host has. Whatever it is, this returns. After a failure
  /// there is no other plan: that throws DeviceError. Exceptions of `host` pass.
  virtual SystemOutcome run(const SystemPlan &plan, SystemHost &host) = 0;
};

/// "device 'ssd0', move 3 (conv1.weight)": how messages call a command.
std::string describe(const SystemPlan &plan, CommandId id);

/// All devices in one SystemC simulation, each a Verilated NPU; links and flash as TLM-2.0 models. Times are those of
/// SystemTiming, but for random stalls. Throws as make_rtl_device(). `system` outlives it.
std::unique_ptr<SystemDevices> make_rtl_system(const SystemConfig &system, const SystemOptions &options = {});

} // namespace gradweave
