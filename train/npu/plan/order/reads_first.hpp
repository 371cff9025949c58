// A product's operand whose next value is stored in its place by the section that reads it.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// Whether each LOAD of a section from the memory between `begin` and `end`, in bytes, is complete before a STORE to
/// the same bytes starts, whatever the timing, and none comes behind one. Of elements of two bytes, or whole pairs of
/// them.
bool reads_come_first(const std::vector<isa::Command> &section, std::uint64_t begin, std::uint64_t end,
                      const NpuConfig &npu);

} // namespace gradweave::runtime::train
