// Networks served while the NPU runs, as users ask for it.
#pragma once

#include "runtime/run/served_run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

struct ServeWords {
  std::string program = "gradweave";     ///< how the command was called
  std::vector<std::string> jobs;         ///< as parse_jobs() reads them
  std::vector<std::uint32_t> priorities; ///< of each job; empty: all 0
  std::vector<std::uint64_t> deadlines;  ///< likewise, in cycles; 0: none
  std::string arrivals;                  ///< file; empty: drawn
  std::uint64_t requests = 100;
  double load = 0.7; ///< of the NPU, by cycles that requests take alone
  double gap = 0;    ///< cycles between arrivals in the mean; 0: from `load`
  std::uint64_t arrival_seed = 1;
  std::uint32_t patience = 64;
  std::string npu = "small", schedule = "rearrange", backend = "timing", data = "normal";
  std::vector<std::string> set;
  bool images = true; ///< convolutions read images
  std::uint64_t plans = 40, seed = 1;
};

/// The command that repeats the run.
std::string reproduce(const ServeWords &words);
/// For an NPU that has been read. Throws std::invalid_argument, ConfigError, and InputError for the file of arrivals.
runtime::ServeRequest serve_request(const ServeWords &words, const Machine &npu);
/// All figures, as `gradweave serve --json` has them.
nlohmann::ordered_json serve_json(const runtime::ServeRequest &request, const runtime::ServeRun &run,
                                  const std::string &reproduce);

} // namespace gradweave::cli
