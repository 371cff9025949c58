// How much memory the machine has.
#pragma once

#include <cstdint>

namespace gradweave {

/// Physical memory in bytes; the largest number if the system does not tell.
std::uint64_t machine_memory_bytes();

} // namespace gradweave
