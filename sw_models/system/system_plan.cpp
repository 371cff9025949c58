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
  case Kind::kProgram:
    return "program";
  case Kind::kProcess:
    return "process";
  }
  return "?";
}

std::uint64_t SystemCommand::flash_addr(std::uint64_t offset) const {
  const std::uint64_t first = kind == Kind::kFlash ? from : target;
  return first + (blocks.empty() ? offset : std::uint64_t{kFlashBlock} * blocks[offset / kFlashBlock]);
}

SystemPlan::SystemPlan(const SystemConfig &system) : system_(&system), uses_(system.devices.size()) {}

CommandId SystemPlan::add(SystemCommand command) {
  check(command);
  const auto id = static_cast<CommandId>(commands_.size());
  const auto use = [&](std::uint32_t device) {
    Uses &uses = uses_[device];
    if (command.kind == Kind::kRun || command.kind == Kind::kProcess) {
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

void SystemPlan::refuse(const SystemCommand &c, const std::string &problem) const {
  throw std::invalid_argument(fmt::format("command {} ({}): {}", commands_.size(), c.label, problem));
}

void SystemPlan::check(const SystemCommand &c) const {
  const std::vector<DeviceConfig> &devices = system_->devices;
  for (const std::uint32_t device : {c.device, c.target_device()})
    if (device >= devices.size())
      refuse(c, fmt::format("device {}: there are {} devices, from 0", device, devices.size()));
  for (const CommandId wait : c.waits)
    if (wait >= commands_.size()) refuse(c, fmt::format("it waits for command {}, which is not before it", wait));
  if (c.kind == Kind::kRun) {
    if (!c.stream || c.stream->empty()) refuse(c, "a stream of no commands");
  } else if (c.kind == Kind::kProcess) {
    if (!devices[c.device].processor)
      refuse(c, fmt::format("device '{}' has no processor; give it a key processor", devices[c.device].name));
  } else {
    check_transfer(c);
  }
}

void SystemPlan::check_transfer(const SystemCommand &c) const {
  if (c.bytes == 0) refuse(c, "a transfer of 0 bytes");
  if (c.from % kFlashBlock != 0 || c.target % kFlashBlock != 0)
    refuse(c,
           fmt::format("a transfer from {:#x} to {:#x}; both must be multiples of {}", c.from, c.target, kFlashBlock));
  const auto in_memory = [&](std::uint32_t device, std::uint64_t first) {
    const DeviceConfig &config = system_->devices[device];
    check_range(c, first, config.machine.memory.size_bytes, fmt::format("the memory of device '{}'", config.name));
  };
  if (c.kind == Kind::kMove && c.device == c.to)
    refuse(c, fmt::format("a move from device '{}' to itself", system_->devices[c.device].name));
  if (c.kind != Kind::kMove) check_flash(c);
  if (c.kind != Kind::kFlash) in_memory(c.device, c.from);
  if (c.kind != Kind::kProgram) in_memory(c.target_device(), c.target);
}

void SystemPlan::check_flash(const SystemCommand &c) const {
  const DeviceConfig &device = system_->devices[c.device];
  if (!device.flash) refuse(c, fmt::format("device '{}' has no flash; give it a key flash", device.name));
  const FlashConfig &flash = system_->flashes[*device.flash];
  if (c.kind == Kind::kProgram && flash.program_ps == 0)
    refuse(c, fmt::format("the flash of device '{}' is read only; give '{}' a program_ns above 0", device.name,
                          flash.name));
  const std::uint64_t first = c.kind == Kind::kFlash ? c.from : c.target;
  if (c.blocks.empty()) {
    check_range(c, first, flash.size_bytes, fmt::format("the flash of device '{}'", device.name));
    return;
  }
  if (c.bytes != std::uint64_t{kFlashBlock} * c.blocks.size())
    refuse(c, fmt::format("{} bytes, and {} blocks of {}", c.bytes, c.blocks.size(), kFlashBlock));
  for (std::uint64_t offset = 0; offset < c.bytes; offset += kFlashBlock)
    if (c.flash_addr(offset) >= flash.size_bytes)
      refuse(c, fmt::format("block {} from {:#x} on is not inside the flash of device '{}' of {} bytes; give it more "
                            "size_bytes",
                            c.blocks[offset / kFlashBlock], first, device.name, flash.size_bytes));
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
