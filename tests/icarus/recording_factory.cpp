// A stand-in for an NPU's library (tb/rtl_factory.cpp) that records: whatever runs on it, the runtime's jobs or the
// tests' streams, leaves a recording in the file that GW_RECORDING names.
#include "device/rtl_factory.hpp"
#include "tb/npu_model.hpp"
#include "tb/rtl_device.hpp"
#include "tests/icarus/recording_npu.hpp"

#include <cstdlib>
#include <stdexcept>

extern "C" gradweave::Device *gradweave_make_rtl_device(const gradweave::NpuConfig &config,
                                                        const gradweave::DeviceOptions &options) {
  const char *file = std::getenv("GW_RECORDING");
  if (file == nullptr) throw std::runtime_error("this NPU library records; name the file in GW_RECORDING");
  gradweave::tb::claim_kernel();
  return new gradweave::tb::RtlDevice(config, options,
                                      std::make_unique<gradweave::test::RecordingNpu>(
                                          gradweave::tb::make_npu_model(), file, config.bus_bytes, 2 + config.cores));
}
