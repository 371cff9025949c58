// The most memory that this process has used.
#pragma once

#include <cstdint>

namespace gradweave {

/// Peak of the resident set in bytes, as the kernel counts it; 0 if it does not tell.
std::uint64_t peak_memory_bytes();

} // namespace gradweave
