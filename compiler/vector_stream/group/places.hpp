// The scratchpad as a section uses it: two places by turns, and a region for what chains hand on.
#pragma once

#include "sw_models/config/npu_config.hpp"

#include <cstdint>

namespace gradweave::compiler {

/// Rows of the region for values of chains, at the scratchpad's beginning; even.
inline std::uint32_t state_rows(const NpuConfig &npu) { return npu.spm_rows() / 16 / 2 * 2; }

/// Rows of each of the two places behind it; even.
inline std::uint32_t place_rows(const NpuConfig &npu) { return (npu.spm_rows() - state_rows(npu)) / 4 * 2; }

} // namespace gradweave::compiler
