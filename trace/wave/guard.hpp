// Keeps a crash of the FST library away from the caller.
#pragma once

#include <functional>
#include <string>

namespace gradweave::wave {

/// Runs `work` in a child process, with the caller's files and standard streams, and returns what it returns (0 to
/// 120). An exception ends the child and is thrown again here as what it is, if it is a ConfigError or
/// std::invalid_argument, else as std::runtime_error with the same message. A child that dies otherwise, or is ended by
/// the library, becomes a ConfigError that says that `files` are damaged. No thread may run in the caller.
int run_guarded(const std::string &files, const std::function<int()> &work);

} // namespace gradweave::wave
