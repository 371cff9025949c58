#include "device/rtl_factory.hpp"

#include "tb/npu_model.hpp"
#include "tb/rtl_device.hpp"

// extern "C" only to have a name for dlsym: both sides are compiled together and share C++ types.
extern "C" gradweave::Device *gradweave_make_rtl_device(const gradweave::NpuConfig &config,
                                                        const gradweave::DeviceOptions &options) {
  gradweave::tb::claim_kernel();
  return new gradweave::tb::RtlDevice(config, options, gradweave::tb::make_npu_model());
}
