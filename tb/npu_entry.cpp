// The entry of an NPU's library.
#include "device/rtl_library.hpp"
#include "tb/npu_model.hpp"

extern "C" gradweave::tb::NpuModel *gradweave_make_npu_model(const gradweave::NpuConfig & /*config*/) {
  return gradweave::tb::make_npu_model().release();
}
