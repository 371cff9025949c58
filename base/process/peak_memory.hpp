// The most memory that this process has used, and what can be had back of it.
#pragma once

#include <cstdint>

namespace gradweave {

/// Peak of the resident set in bytes, as the kernel counts it; 0 if it does not tell.
std::uint64_t peak_memory_bytes();

/// Gives what has been freed back to the system. Of blocks of less than 32 MB the C library keeps 64 MB and more.
void give_back_memory();

/// From here on keeps what is freed for what is allocated next, blocks of any size: pages that the system gives anew
/// are cleared first. For a process that is short, or that does the like again and again.
void keep_freed_memory();

} // namespace gradweave
