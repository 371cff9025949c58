// The scratchpad as a section uses it: two places by turns, and a region for what stays from area to area; how much a
// command takes.
#pragma once

#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>

namespace gradweave::compiler {

/// The most that a field of 16 bits holds: rows and columns, elements and steps of a command.
inline constexpr std::size_t kMostInField = 65535;

/// Rows of the region for values of chains, at the scratchpad's beginning, unless a plan says another number; even.
inline std::uint32_t state_rows(const NpuConfig &npu) { return npu.spm_rows() / 16 / 2 * 2; }

/// Rows of each of the two places behind a region of so many rows; even.
inline std::uint32_t place_rows(const NpuConfig &npu, std::uint32_t region) {
  return region > npu.spm_rows() ? 0 : (npu.spm_rows() - region) / 4 * 2;
}
inline std::uint32_t place_rows(const NpuConfig &npu) { return place_rows(npu, state_rows(npu)); }

} // namespace gradweave::compiler
