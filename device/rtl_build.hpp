// Verilated NPUs that are built when they are asked for.
#pragma once

#include "sw_models/config/npu_config.hpp"

#include <string>

namespace gradweave {

/// What the Verilated NPU of this configuration is called: its name, or, where that is NAME+KEY=VALUE of other values
/// than a file says, NAME-KEY-VALUE, which is a name as files have it.
std::string rtl_name(const NpuConfig &config);

/// Builds the library that find_rtl_library() looks for, if it is missing, the program lies in a build directory of
/// `make`'s that has the RTL, and $GRADWEAVE_LIB_DIR is not set; else does nothing. Takes a minute or more, with
/// progress on standard error. `source`: the NPU's name in configs/ or its file; empty: no file has it, and one is
/// written there. Throws std::runtime_error if the build
/// fails.
void build_missing_rtl_library(const NpuConfig &config, const std::string &source);

} // namespace gradweave
