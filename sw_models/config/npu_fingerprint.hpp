// An NPU in keys of caches and journals.
#pragma once

#include "base/key/fingerprint.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave {

/// All parameters that results, cycles or streams depend on; not the name.
Fingerprint fingerprint(const NpuConfig &npu);

} // namespace gradweave
