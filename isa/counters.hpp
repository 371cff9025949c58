// The hardware counters of an NPU as one list: those of isa::kCounters, which are core 0's where a counter is per core,
// then the per-core ones of core 1, of core 2, and so on, then isa::kVectorCounters of each vector unit. The places are
// those of the CSRs, 8 bytes each from kCounterBase on.
#pragma once

#include "isa_defs.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gradweave::isa {

/// Counters of an NPU of `cores` cores (at least 1) and `vectors` vector units.
std::size_t counter_count(std::uint32_t cores, std::uint32_t vectors = 0);

/// Place of a counter in the list. `unit`: the core, or the vector unit; of a counter that no core and no vector unit
/// has there is one only: 0. Where those of vector units are depends on how many cores there are.
std::size_t counter_index(Counter counter, std::uint32_t unit = 0, std::uint32_t cores = 1);

/// Byte address of the CSR that holds the low word; the high word follows.
std::uint16_t counter_csr(std::size_t index);

/// "COMPUTE_ACTIVE" for core 0, "COMPUTE_ACTIVE_CORE1" for core 1; so are those of vector units. Unique in the list of
/// an NPU of so many cores.
std::string counter_name(std::size_t index, std::uint32_t cores);

/// "load", "compute" (core 0), "compute1": counters of one group add up to CYCLES. Empty: the counter is of no group.
std::string counter_group(std::size_t index, std::uint32_t cores);

} // namespace gradweave::isa
