// Compares two timing traces of commands (command_trace.hpp): the RTL's and the model's.
#pragma once

#include "app/validate/run.hpp"

#include <filesystem>
#include <vector>

namespace gradweave::runtime {

/// A verdict for each stream of the traces; a trace knows nothing of counters and semaphores. Throws ConfigError if a
/// file is wrong, or if the traces are not of the same commands.
std::vector<ValidationVerdict> compare_traces(const std::filesystem::path &rtl, const std::filesystem::path &model);

} // namespace gradweave::runtime
