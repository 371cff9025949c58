// An NPU as part of the keys of journals.
#pragma once

#include "sw_models/npu_config.hpp"

#include <string>

namespace gradweave::runtime {

/// All parameters that results, cycles or streams depend on; not the name.
std::string npu_text(const NpuConfig &npu);

} // namespace gradweave::runtime
