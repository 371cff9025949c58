// Work on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace gradweave {

/// Cores that this process may use, at least one.
unsigned usable_cores();

/// Calls work(0) to work(count - 1), each once, in `threads` threads at most, of which the caller's is one. They begin
/// in this order. Once one throws, no further one begins; of those that threw, the exception of the first in order is
/// thrown when all that began have ended.
void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &work);

/// Calls body(begin, end) for disjoint parts that make up [0, count), one a thread and none below `grain` indices.
/// Returns when all have ended; the first exception, in the order of the parts, is thrown again.
template <typename F> void parallel_for(std::size_t count, std::size_t grain, unsigned threads, F body) {
  const std::size_t parts = std::min<std::size_t>(threads, count / std::max<std::size_t>(1, grain));
  if (parts <= 1) {
    if (count > 0) body(std::size_t{0}, count);
    return;
  }
  for_each_in_parallel(parts, threads, [&](std::size_t p) { body(count * p / parts, count * (p + 1) / parts); });
}

} // namespace gradweave
