// What a stream accesses, from its commands alone (docs/energy.md).
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Counts by formula, without running anything: what the timing model and the RTL count as they work, another way. The
/// stream lies at `address`, on which the beats of its fetch depend, and is one that no NPU would refuse.
AccessCounts count_accesses(const std::vector<isa::Command> &stream, const Machine &npu, std::uint64_t address = 0);

} // namespace gradweave::compiler
