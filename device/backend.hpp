// What can stand in for the NPU.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gradweave::runtime {

enum class Backend { kRtl, kTiming, kFunctional };
/// Throws std::invalid_argument listing the names that there are.
Backend parse_backend(std::string_view name);
std::string_view to_string(Backend backend);
/// "rtl, timing, ...": what parse_backend() accepts.
std::string backend_names();
/// It computes results, which can be checked; without, only the counters are.
bool has_data(Backend backend);
/// It tells cycles and the times of commands.
bool has_time(Backend backend);

/// The device of a backend. Throws as make_rtl_device() does.
std::unique_ptr<Device> make_device(Backend backend, const Machine &npu, const DeviceOptions &options);

} // namespace gradweave::runtime
