// Runs of layers as users ask for them, and what the runtime is told.
#pragma once

#include "app/request/work.hpp"
#include "runtime/record/run_options.hpp"

#include <cstdint>
#include <string>

namespace gradweave::cli {

struct RunRequest {
  std::string program = "gradweave"; ///< how the command was called
  WorkArguments work;
  unsigned jobs = 0;           ///< simulations, or threads that look for plans, at a time; 0: one a core
  std::string times, timeline; ///< file, or directory if it is one or ends in '/'; empty: none
  bool quiet = false, from_make = false;
};

/// A run on the timing model.
struct SimulateRequest : RunRequest {
  std::string stream; ///< a stream file to be simulated instead; empty: none
};

/// A run with data, or of a backend of choice.
struct CosimRequest : RunRequest {
  std::string backend = "rtl", data = "normal";
  std::uint64_t seed = 1;
  bool trace = false;
  std::string trace_file, trace_dir = "gradweave-trace";
  std::uint64_t trace_from = 0, trace_to = ~std::uint64_t{0};
  std::uint64_t stress_seed = 1;
  double stall_probability = 0;
};

/// What is asked for, on `work`, which resolve() has found. Sees that outputs can be written, and makes their
/// directories. Throws std::invalid_argument for what does not go together, OutputError.
runtime::RunOptions simulate_options(const SimulateRequest &request, const Work &work);
runtime::RunOptions cosim_options(const CosimRequest &request, const Work &work);

/// The same for `request.stream`, of which only the NPU of the work counts. Throws ConfigError, too.
runtime::RunOptions stream_options(const SimulateRequest &request);

} // namespace gradweave::cli
