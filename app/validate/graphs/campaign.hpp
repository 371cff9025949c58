// Many random graphs in parallel processes, and the smallest graphs of what failed.
#pragma once

#include "app/validate/graphs/shrink.hpp"
#include "base/process/process_pool.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::graphs {

struct CampaignOptions {
  std::uint64_t first = 1, count = 0; ///< seeds
  CaseOptions cases;
  unsigned jobs = 1;      ///< processes at a time
  unsigned seconds = 60;  ///< that a case may take
  std::size_t shrunk = 4; ///< failures of one kind that are shrunk; the others are counted
  bool quiet = false;     ///< no progress
};

/// A failure in its smallest form.
struct Finding {
  std::uint64_t seed = 0;
  Verdict verdict;
  std::string text;    ///< of the .graph file
  std::string command; ///< that repeats it with that file, called FILE
  std::size_t ops = 0;
};

struct CampaignResult {
  std::array<std::uint64_t, kOutcomes> counts{};
  std::vector<std::uint64_t> failed; ///< seeds, ascending
  std::vector<Finding> findings;     ///< ascending by seed

  bool ok() const { return failed.empty(); }
};

/// A crash, and a case that takes too long, end their process alone. `file_of`: the name of a finding's file. Throws
/// Interrupted if a signal arrives.
CampaignResult run_campaign(const CampaignOptions &options, const SignalGuard &signals,
                            const std::function<std::string(std::uint64_t seed)> &file_of);

} // namespace gradweave::graphs
