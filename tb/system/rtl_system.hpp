// A system of Verilated NPUs, links and flash in one simulation.
#pragma once

#include "device/rtl_library.hpp"
#include "device/system_devices.hpp"
#include "tb/rtl_device.hpp"
#include "tb/system/sequencer.hpp"

#include <memory>
#include <vector>

namespace gradweave::tb {

/// make_rtl_system() of device/system_devices.hpp; `npus` are those of the system's devices.
std::unique_ptr<SystemDevices> make_rtl_system(const SystemConfig &system, const SystemFaults &faults,
                                               const std::vector<RtlNpu> &npus);

} // namespace gradweave::tb
