// What the shared library of a Verilated NPU exports.
#pragma once

#include "device/device.hpp"

namespace gradweave::tb {

/// Makes the device; the caller owns it. Throws std::runtime_error if the RTL was built with other parameters than
/// `config` has, or if the process made one before.
using MakeRtlDevice = Device *(const NpuConfig &config, const DeviceOptions &options);

constexpr const char *kMakeRtlDeviceSymbol = "gradweave_make_rtl_device";

} // namespace gradweave::tb
