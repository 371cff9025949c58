// A stand-in for an NPU's library (tb/npu_entry.cpp) that records: whatever runs on it, the runtime's jobs or the
// tests' streams, leaves a recording in the file that GW_RECORDING names.
#include "device/rtl_library.hpp"
#include "tests/icarus/recording_npu.hpp"

#include <cstdlib>
#include <stdexcept>

extern "C" gradweave::tb::NpuModel *gradweave_make_npu_model(const gradweave::Machine &config) {
  const char *file = std::getenv("GW_RECORDING");
  if (file == nullptr) throw std::runtime_error("this NPU library records; name the file in GW_RECORDING");
  return new gradweave::test::RecordingNpu(gradweave::tb::make_npu_model(), file,
                                           gradweave::tb::PortPlace{config.port_bytes, 0, config.ports()},
                                           config.engines());
}
