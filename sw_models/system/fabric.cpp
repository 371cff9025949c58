#include "sw_models/system/fabric.hpp"

#include <algorithm>

namespace gradweave {
namespace {

using Kind = SystemCommand::Kind;
using What = Fabric::Happening::What;

// Stages of a part that is not on a line.
constexpr std::uint32_t kWrittenStage = ~std::uint32_t{0};

constexpr std::uint64_t part_key(CommandId id, std::uint32_t part) { return std::uint64_t{id} << 32U | part; }

} // namespace

Fabric::Fabric(const SystemPlan &plan, Stall stall)
    : plan_(plan), stall_(std::move(stall)), transfers_(plan.commands().size()) {
  const SystemConfig &system = plan.system();
  for (const DeviceConfig &device : system.devices) {
    const LinkConfig &link = system.links[device.link];
    lines_.insert(lines_.end(), 2, {link.bandwidth_gb_s, link.latency_ps, 0, 0});
    memories_.push_back({DramTiming(device.machine.memory, device.machine.bus_bytes), device.machine.period_ps(), {}});
    flashes_.push_back({std::vector<std::uint64_t>(device.flash ? system.flashes[*device.flash].channels : 0, 0), 0});
  }
  for (const PortConfig &port : system.ports)
    lines_.insert(lines_.end(), 2, {port.bandwidth_gb_s, 0, 0, 0});
}

std::vector<std::uint32_t> Fabric::path_of(const SystemCommand &c) const {
  const SystemConfig &system = plan_.system();
  const auto own = system.link_of(c.device).port, other = system.link_of(c.to).port;
  const auto ports = static_cast<std::uint32_t>(2 * system.devices.size());
  std::vector<std::uint32_t> path{2 * c.device};
  if (own != other) {
    if (own) path.push_back(ports + 2 * *own);
    if (other) path.push_back(ports + 2 * *other + 1);
  }
  path.push_back(2 * c.to + 1);
  return path;
}

std::uint32_t Fabric::bytes_of(CommandId id, std::uint32_t part) const {
  const std::uint64_t first = std::uint64_t{part} * transfers_[id].part_bytes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(transfers_[id].part_bytes, plan_.commands()[id].bytes - first));
}

void Fabric::start(CommandId id, std::uint64_t now) {
  const SystemCommand &command = plan_.commands()[id];
  const SystemConfig &system = plan_.system();
  Transfer &transfer = transfers_[id];
  if (command.kind == Kind::kProcess) {
    transfer.parts = 1;
    events_.push({now + system.processors[*system.devices[command.device].processor].command_ps(command.bytes), id, 0,
                  kWrittenStage});
    return;
  }
  const bool move = command.kind == Kind::kMove;
  transfer.part_bytes =
      move ? std::min(system.link_of(command.device).packet_bytes, system.link_of(command.to).packet_bytes)
           : kFlashBlock;
  transfer.parts = static_cast<std::uint32_t>((command.bytes + transfer.part_bytes - 1) / transfer.part_bytes);
  if (command.kind == Kind::kFlash) {
    ask_flash(id, now);
    return;
  }
  if (move) transfer.path = path_of(command);
  for (std::uint32_t part = 0; part < transfer.parts; ++part)
    ask_memory(command.device, DramTiming::Direction::kRead, id, part, now);
}

void Fabric::ask_flash(CommandId id, std::uint64_t now) {
  for (std::uint32_t part = 0; part < transfers_[id].parts; ++part)
    events_.push({hold_channel(id, part, flash_of(id).read_ps, now), id, part, 0});
}

const FlashConfig &Fabric::flash_of(CommandId id) const {
  const SystemConfig &system = plan_.system();
  return system.flashes[*system.devices[plan_.commands()[id].device].flash];
}

std::uint64_t Fabric::hold_channel(CommandId id, std::uint32_t part, std::uint64_t latency_ps, std::uint64_t now) {
  const SystemCommand &command = plan_.commands()[id];
  const FlashConfig &flash = flash_of(id);
  Channels &channels = flashes_[command.device];
  const std::uint64_t block = command.flash_addr(std::uint64_t{kFlashBlock} * part) / kFlashBlock;
  std::uint64_t &free = channels.free[block % flash.channels];
  const std::uint64_t time = latency_ps + LinkConfig::packet_ps(bytes_of(id, part), flash.channel_gb_s);
  free = std::max(free, now) + time;
  channels.busy += time;
  return free;
}

void Fabric::ask_memory(std::uint32_t device, DramTiming::Direction direction, CommandId id, std::uint32_t part,
                        std::uint64_t now) {
  Memory &memory = memories_[device];
  const std::uint32_t granule = memory.dram.access_bytes();
  memory.dram.push(direction, now / memory.period_ps + 1, (bytes_of(id, part) + granule - 1) / granule,
                   static_cast<std::uint32_t>(memory.parts.size()));
  memory.parts.push_back(part_key(id, part));
}

std::uint64_t Fabric::choice_time(const Memory &memory) const {
  const std::uint64_t cycle = memory.dram.next_choice_cycle();
  return cycle == DramTiming::kNoChoice ? kNever : cycle * memory.period_ps;
}

std::uint64_t Fabric::next_event() const {
  std::uint64_t next = events_.empty() ? kNever : events_.top().time;
  for (const Memory &memory : memories_)
    next = std::min(next, choice_time(memory));
  return next;
}

const std::vector<Fabric::Happening> &Fabric::play(std::uint64_t now) {
  happened_.clear();
  while (!events_.empty() && events_.top().time == now) {
    const Event event = events_.top();
    events_.pop();
    arrive(event);
  }
  for (std::uint32_t device = 0; device < memories_.size(); ++device)
    if (choice_time(memories_[device]) == now) serve_memory(device, now);
  return happened_;
}

void Fabric::arrive(const Event &event) {
  Transfer &transfer = transfers_[event.id];
  const SystemCommand &command = plan_.commands()[event.id];
  const auto happen = [&](What what) {
    happened_.push_back(
        {what, event.id, std::uint64_t{event.part} * transfer.part_bytes, bytes_of(event.id, event.part)});
  };
  if (event.stage == kWrittenStage) {
    happen(What::kWritten);
    if (++transfer.written == transfer.parts) happen(What::kEnded);
    return;
  }
  if (event.stage == 0) happen(What::kRead);
  if (command.kind == Kind::kProgram) {
    events_.push({hold_channel(event.id, event.part, flash_of(event.id).program_ps, event.time), event.id, event.part,
                  kWrittenStage});
    return;
  }
  if (event.stage == transfer.path.size()) {
    ask_memory(command.target_device(), DramTiming::Direction::kWrite, event.id, event.part, event.time);
    return;
  }
  Line &line = lines_[transfer.path[event.stage]];
  const LinkConfig &sender = plan_.system().link_of(command.device);
  const std::uint64_t wait = stall_ ? stall_(event.id) : 0;
  const std::uint64_t time =
      LinkConfig::packet_ps(std::uint64_t{bytes_of(event.id, event.part)} + sender.overhead_bytes, line.bandwidth_gb_s);
  line.free = std::max(line.free, event.time) + wait + time;
  line.busy += time;
  events_.push({line.free + line.latency_ps, event.id, event.part, event.stage + 1});
}

/// All that arrives up to this edge is known: what arrives at this time comes to the next one.
void Fabric::serve_memory(std::uint32_t device, std::uint64_t now) {
  Memory &memory = memories_[device];
  while (const auto grant = memory.dram.advance(now / memory.period_ps)) {
    const std::uint64_t key = memory.parts[grant->id];
    const auto id = static_cast<CommandId>(key >> 32U);
    const auto part = static_cast<std::uint32_t>(key);
    const bool read = grant->direction == DramTiming::Direction::kRead;
    const std::uint64_t cycle =
        read ? memory.dram.read_beat_cycle(*grant, grant->accesses - 1) : memory.dram.write_response_cycle(*grant);
    events_.push({cycle * memory.period_ps, id, part, read ? 0 : kWrittenStage});
  }
}

} // namespace gradweave
