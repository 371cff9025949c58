// What the result of a job depends on: keys of the journal of a long run.
#pragma once

#include "runtime/record/run_options.hpp"

#include <string>

namespace gradweave::runtime {

/// The fingerprint of everything about a job that its result depends on, except for the programs that compute it.
std::string job_key(const JobSpec &spec);

/// What the jobs of a run have in common, whichever of its layers and schedules are picked: 16 hexadecimal digits.
std::string run_key(const RunOptions &options);

/// The fingerprint of the programs that results depend on: this command (compiler, models, checks) and, for the rtl
/// backend, the library of the Verilated NPU; empty: none. Throws std::runtime_error if one of them cannot be read.
std::string build_key(const std::string &library);

} // namespace gradweave::runtime
