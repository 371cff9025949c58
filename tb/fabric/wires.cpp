#include "tb/fabric/wires.hpp"

#include <fmt/format.h>

namespace gradweave::tb {

Wires::Wires(const sc_core::sc_module_name &name, const SystemConfig &system, const SystemFaults &faults,
             const std::vector<DeviceMemory *> &memories)
    : sc_module(name) {
  for (std::size_t d = 0; d < system.devices.size(); ++d) {
    const DeviceConfig &device = system.devices[d];
    const auto named = [d](const char *what) { return fmt::format("{}{}", what, d); };
    Parts parts;
    parts.engine = std::make_unique<LinkEngine>(named("engine").c_str(), device.flash.has_value());
    parts.own = std::make_unique<TlmMemory>(named("own").c_str(), *memories[d]);
    parts.others = std::make_unique<TlmMemory>(named("others").c_str(), *memories[d]);
    parts.from = std::make_unique<TlmLink>(named("from").c_str());
    parts.to = std::make_unique<TlmLink>(named("to").c_str());
    parts.engine->memory.bind(parts.own->socket);
    parts.engine->link.bind(parts.from->in);
    parts.from->out.bind(switch_.in);
    switch_.out.bind(parts.to->in);
    parts.to->out.bind(parts.others->socket);
    if (device.flash) {
      parts.flash = std::make_unique<TlmFlash>(named("flash").c_str(), system.flashes[*device.flash].size_bytes);
      parts.engine->flash->bind(parts.flash->socket);
    }
    devices_.push_back(std::move(parts));
  }
  for (const SystemFaults::Packet &packet : faults.packets)
    devices_.at(packet.device).from->fail(packet.number);
  for (const SystemFaults::Block &block : faults.blocks)
    if (TlmFlash *flash = devices_.at(block.device).flash.get()) flash->fail(block.number);
  for (const SystemFaults::Block &block : faults.stale)
    if (TlmFlash *flash = devices_.at(block.device).flash.get()) flash->keep(block.number);
}

} // namespace gradweave::tb
