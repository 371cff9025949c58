// Several networks on one NPU as users ask for them.
#pragma once

#include "runtime/run/woven_run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

struct WeaveRequest {
  std::string program = "gradweave"; ///< how the command was called
  std::vector<std::string> jobs;     ///< as parse_jobs() reads them
  std::string npu = "small", policy = "tiles", backend = "timing", data = "normal";
  std::vector<std::string> set;
  std::string convolution = "image"; ///< what convolutions read; or im2col
  std::uint64_t plans = 40, changes = 300, search_seed = 1, seed = 1;
  unsigned threads = 0; ///< 0: one a core
};

/// The command that repeats the run.
std::string reproduce(const WeaveRequest &request);
/// Reads the jobs' networks, for an NPU that has been read. Throws std::invalid_argument, ConfigError.
runtime::WovenRequest woven_request(const WeaveRequest &request, const Machine &npu);
/// All figures, as `gradweave weave --json` has them: cycles, bytes, and the job's checks.
nlohmann::ordered_json woven_json(const runtime::WovenRequest &request, const runtime::WovenRun &run,
                                  const std::string &reproduce);

} // namespace gradweave::cli
