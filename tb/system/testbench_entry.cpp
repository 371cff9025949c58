// The entry of the testbench's library.
#include "device/rtl_library.hpp"
#include "tb/rtl_device.hpp"

extern "C" void gradweave_make_rtl_devices(const std::vector<gradweave::tb::RtlNpu> &npus,
                                           std::vector<std::unique_ptr<gradweave::Device>> &devices) {
  for (auto &device : gradweave::tb::make_rtl_devices(npus))
    devices.push_back(std::move(device));
}
