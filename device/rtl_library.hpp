// What the shared libraries of the RTL export. The testbench is a library of its own, so that a process has its code
// and SystemC's kernel once; an NPU's library holds the Verilated model. Both sides of an entry are compiled together
// and share C++ types: extern "C" only gives dlsym() a name.
#pragma once

#include "device/system_devices.hpp"

#include <memory>
#include <vector>

namespace gradweave::tb {

class NpuModel;

/// Of libgradweave_rtl_<name>.so: makes the Verilated NPU, which the caller owns.
using MakeNpuModel = NpuModel *(const NpuConfig &config);
constexpr const char *kMakeNpuModelSymbol = "gradweave_make_npu_model";

/// An NPU that is to be put into a simulation.
struct RtlNpu {
  Machine config;
  DeviceOptions options;
  MakeNpuModel *make_model;
};

/// Of libgradweave_tb.so: make_rtl_devices() of device/device.hpp, which appends to `devices`.
using MakeRtlDevices = void(const std::vector<RtlNpu> &npus, std::vector<std::unique_ptr<Device>> &devices);
constexpr const char *kMakeRtlDevicesSymbol = "gradweave_make_rtl_devices";

/// Of libgradweave_tb.so: make_rtl_system() of device/system_devices.hpp, an NPU for each device.
using MakeRtlSystem = void(const SystemConfig &system, const SystemFaults &faults, const std::vector<RtlNpu> &npus,
                           std::unique_ptr<SystemDevices> &made);
constexpr const char *kMakeRtlSystemSymbol = "gradweave_make_rtl_system";

} // namespace gradweave::tb
