// NPU configurations that are no file (yet).
#pragma once

#include "sw_models/npu_config.hpp"

#include <string>
#include <string_view>

namespace gradweave {

/// The configuration that `text` describes, as load_npu_config() reads it; `file` stands for it in messages. Throws
/// ConfigError.
NpuConfig parse_npu_config(std::string_view text, const std::string &file);

} // namespace gradweave
