// An NPU in keys of caches and journals.
#pragma once

#include "sw_models/npu_config.hpp"

#include <string>

namespace gradweave {

/// All parameters that results, cycles or streams depend on; not the name.
std::string npu_text(const NpuConfig &npu);

} // namespace gradweave
