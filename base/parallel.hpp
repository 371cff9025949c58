// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace gradweave {

/// Cores that this process may use, at least one.
unsigned usable_cores();

/// Calls work(0) to work(count - 1), each once, in `threads` threads at most, of which the caller's is one. They begin
/// in this order. Once one throws, no further one begins; of those that threw, the exception of the first in order is
/// thrown when all that began have ended.
void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &work);

} // namespace gradweave
