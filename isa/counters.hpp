// The hardware counters of an NPU as one list: those of isa::kCounters, which are core 0's where a counter is per core,
// then the per-core ones of core 1, of core 2, and so on. The places are those of the CSRs, 8 bytes each from
// kCounterBase on.
#pragma once

#include "isa_defs.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gradweave::isa {

/// Counters of an NPU of `cores` cores (at least 1).
std::size_t counter_count(std::uint32_t cores);

/// Place of a counter in the list. Of a counter that is not per core there is one only: `core` must be 0.
std::size_t counter_index(Counter counter, std::uint32_t core = 0);

/// Byte address of the CSR that holds the low word; the high word follows.
std::uint16_t counter_csr(std::size_t index);

/// "COMPUTE_ACTIVE" for core 0, "COMPUTE_ACTIVE_CORE1" for core 1. Unique in the list.
std::string counter_name(std::size_t index);

/// "load", "compute" (core 0), "compute1": counters of one group add up to CYCLES. Empty: the counter is of no group.
std::string counter_group(std::size_t index);

} // namespace gradweave::isa
