#include "base/process/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace gradweave {

unsigned usable_cores() { return std::max(1U, std::thread::hardware_concurrency()); }

void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::exception_ptr> thrown(count);
  const auto take = [&] {
    for (std::size_t i = next++; i < count && !failed; i = next++)
      try {
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
        failed = true;
      }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < std::min<std::size_t>(threads, count); ++t)
    others.emplace_back(take);
  take();
  for (std::thread &other : others)
    other.join();
  for (const std::exception_ptr &one : thrown)
    if (one) std::rethrow_exception(one);
}

} // namespace gradweave
