// Links, switch and flash of a system.
#pragma once

#include "device/system_devices.hpp"
#include "tb/bus/tlm_memory.hpp"
#include "tb/fabric/link_engine.hpp"

#include <memory>
#include <vector>

namespace gradweave::tb {

/// Beside the boards: for each device an engine, the two directions of its link, and its flash.
class Wires : public sc_core::sc_module {
public:
  /// `memories`: of the devices. What is at fault is checked against `system`.
  Wires(const sc_core::sc_module_name &name, const SystemConfig &system, const SystemFaults &faults,
        const std::vector<DeviceMemory *> &memories);

  LinkEngine &engine(std::uint32_t device) { return *devices_[device].engine; }
  /// Null if the device has none.
  TlmFlash *flash(std::uint32_t device) { return devices_[device].flash.get(); }

private:
  struct Parts {
    std::unique_ptr<LinkEngine> engine;
    std::unique_ptr<TlmMemory> own, others; ///< doors to the device's memory, for its engine and for its link
    std::unique_ptr<TlmLink> from, to;
    std::unique_ptr<TlmFlash> flash;
  };
  std::vector<Parts> devices_;
  TlmSwitch switch_{"switch"};
};

} // namespace gradweave::tb
