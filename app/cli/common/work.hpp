// What the subcommands that run layers share: their work, outputs, exit codes.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/request/work.hpp"
#include "runtime/job/job.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gradweave::cli {

/// Throws std::invalid_argument if a network's name, and no file, is where a stream is expected.
void check_stream_name(const std::string &file);

/// Whether one of these outputs, each with the option that asked for it, goes to standard output ("-"). Throws
/// std::invalid_argument if several do.
bool uses_standard_output(const std::vector<std::pair<std::string, std::string>> &outputs);

/// What the process says at its end.
ExitCode exit_code(runtime::Outcome outcome);

} // namespace gradweave::cli
