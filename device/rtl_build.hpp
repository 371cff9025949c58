// Verilated NPUs that are built when they are asked for.
#pragma once

#include "sw_models/config/npu_config.hpp"

#include <string>

namespace gradweave {

/// Builds the library that find_rtl_library() looks for, if it is missing, the program lies in a build directory of
/// `make`'s that has the RTL, and $GRADWEAVE_LIB_DIR is not set; else does nothing. Takes a minute or more, with
/// progress on standard error. `source`: the NPU's name in configs/ or its file. Throws std::runtime_error if the build
/// fails.
void build_missing_rtl_library(const NpuConfig &config, const std::string &source);

} // namespace gradweave
