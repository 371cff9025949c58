#include "sw_models/system/system_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave {

namespace {

using Kind = SystemCommand::Kind;

} // namespace

std::string_view to_string(SystemCommand::Kind kind) {
  switch (kind) {
  case Kind::kRun:
    return "run";
  case Kind::kMove:
    return "move";
  case Kind::kFlash:
    return "flash";
  }
  return "?";
}

SystemPlan::SystemPlan(const SystemConfig &system) : system_(&system), uses_(system.devices.size()) {}

CommandId SystemPlan::add(SystemCommand command) {
  check(command);
  const auto id = static_cast<CommandId>(commands_.size());
  const auto use = [&](std::uint32_t device) {
    Uses &uses = uses_[device];
    if (command.kind == Kind::kRun) {
      command.waits.insert(command.waits.end(), uses.since_run.begin(), uses.since_run.end());
      uses = {{id}, true};
    } else {
      if (uses.ran) command.waits.push_back(uses.since_run.front());
      uses.since_run.push_back(id);
    }
  };
  use(command.device);
  if (command.kind == Kind::kMove) use(command.to);
  std::sort(command.waits.begin(), command.waits.end());
  command.waits.erase(std::unique(command.waits.begin(), command.waits.end()), command.waits.end());
  commands_.push_back(std::move(command));
  return id;
}

void SystemPlan::check_range(const SystemCommand &c, std::uint64_t first, std::uint64_t size,
                             std::string_view what) const {
  if (first > size || c.bytes > size - first)
    throw std::invalid_argument(fmt::format("command {} ({}): {} bytes at {:#x} are not inside {} of {} bytes; give it "
                                            "more size_bytes",
                                            commands_.size(), c.label, c.bytes, first, what, size));
}

void SystemPlan::check(const SystemCommand &c) const {
  const auto refuse = [&](const std::string &problem) {
    throw std::invalid_argument(fmt::format("command {} ({}): {}", commands_.size(), c.label, problem));
  };
  const std::vector<DeviceConfig> &devices = system_->devices;
  for (const std::uint32_t device : {c.device, c.target_device()})
    if (device >= devices.size())
      refuse(fmt::format("device {}: there are {} devices, from 0", device, devices.size()));
  for (const CommandId wait : c.waits)
    if (wait >= commands_.size()) refuse(fmt::format("it waits for command {}, which is not before it", wait));
  if (c.kind == Kind::kRun) {
    if (!c.stream || c.stream->empty()) refuse("a stream of no commands");
    return;
  }
  if (c.bytes == 0) refuse("a transfer of 0 bytes");
  if (c.from % kFlashBlock != 0 || c.target % kFlashBlock != 0)
    refuse(fmt::format("a transfer from {:#x} to {:#x}; both must be multiples of {}", c.from, c.target, kFlashBlock));
  if (c.kind == Kind::kMove && c.device == c.to)
    refuse(fmt::format("a move from device '{}' to itself", devices[c.device].name));
  if (c.kind == Kind::kFlash && !devices[c.device].flash)
    refuse(fmt::format("device '{}' has no flash; give it a key flash", devices[c.device].name));
  const auto memory_of = [](const DeviceConfig &d) { return fmt::format("the memory of device '{}'", d.name); };
  const DeviceConfig &source = devices[c.device], &target = devices[c.target_device()];
  if (c.kind == Kind::kFlash)
    check_range(c, c.from, system_->flashes[*source.flash].size_bytes,
                fmt::format("the flash of device '{}'", source.name));
  else
    check_range(c, c.from, source.machine.memory.size_bytes, memory_of(source));
  check_range(c, c.target, target.machine.memory.size_bytes, memory_of(target));
}

PlanProgress::PlanProgress(const SystemPlan &plan) : readers_(plan.commands().size()) {
  for (CommandId id = 0; id < plan.commands().size(); ++id) {
    const SystemCommand &command = plan.commands()[id];
    open_.push_back(static_cast<std::uint32_t>(command.waits.size()));
    for (const CommandId wait : command.waits)
      readers_[wait].push_back(id);
  }
}

std::vector<CommandId> PlanProgress::first() const {
  std::vector<CommandId> ready;
  for (CommandId id = 0; id < open_.size(); ++id)
    if (open_[id] == 0) ready.push_back(id);
  return ready;
}

std::vector<CommandId> PlanProgress::end(CommandId id) {
  ++ended_;
  std::vector<CommandId> ready;
  for (const CommandId reader : readers_[id])
    if (--open_[reader] == 0) ready.push_back(reader);
  return ready;
}

} // namespace gradweave
