// A search as users ask for it: each layer's fastest schedule, and that of the whole step.
#pragma once

#include "app/evaluation/unit/network_search.hpp"
#include "app/request/work.hpp"
#include "runtime/job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace gradweave::cli {

struct SearchRequest {
  WorkArguments work;
  std::uint64_t plans = 100, step_plans = 300;
  std::string backend; ///< that runs and checks the step; empty: none
  std::string data = "normal", start = "reuse";
  bool weave_again = false;          ///< see compiler::StepOptions
  std::string program = "gradweave"; ///< how the command was called
  compiler::Objective objective = compiler::Objective::kCycles;
  std::uint64_t seed = 1;
};

/// Throws std::invalid_argument for what cannot be searched.
void check_search(const SearchRequest &request);
/// Searches. `progress` may throw, which ends it.
evaluation::NetworkSearch search_network(const SearchRequest &request, const Work &work,
                                         const evaluation::SearchProgress &progress);
/// Bytes of elements that LOADs and STOREs of the step move.
std::uint64_t step_bytes(const evaluation::NetworkSearch &found);
/// The step as a job for `request.backend`. Throws ConfigError if the NPU has no room for it: it is searched as if any
/// had.
runtime::JobSpec step_job(const SearchRequest &request, const Work &work, const evaluation::NetworkSearch &found);
/// All figures, as `gradweave search --json` has them, but for those of the check.
nlohmann::ordered_json search_json(const SearchRequest &request, const Work &work,
                                   const evaluation::NetworkSearch &found);

} // namespace gradweave::cli
