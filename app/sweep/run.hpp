// Works through the points that have no result, in processes.
#pragma once

#include "app/sweep/store.hpp"
#include "base/process/process_pool.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::sweep {

/// A point's work. Points of one key are one.
struct Work {
  std::string key;
  std::string name;                 ///< of the point, for messages
  double seconds = 0;               ///< that it takes, about
  std::function<Result()> evaluate; ///< in a process of its own; what it throws is a result that failed
};

/// The i-th of n shares of the work, i from 1, of about the same time; all of them together are the work.
std::vector<Work> share_of(std::vector<Work> work, std::size_t i, std::size_t n);

struct RunCount {
  std::size_t known = 0;  ///< points that had a result before
  std::size_t done = 0;   ///< that got it from this process
  std::size_t others = 0; ///< that other processes have worked at meanwhile
};

/// Evaluates what the store has no result of, the longest first, `jobs` at a time, and returns when all have one: also
/// those that other processes of the store are at. Each result is kept as soon as its process has ended; a process that
/// dies fails its point and no other. Throws Interrupted, OutputError or DatabaseError; what is kept stays.
RunCount run(Store &store, std::vector<Work> work, unsigned jobs, bool quiet, const SignalGuard &signals);

} // namespace gradweave::sweep
