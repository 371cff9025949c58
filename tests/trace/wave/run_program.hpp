// Runs a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::wave {

/// Waits for `arguments` (the program's path first), standard output and error in `log`. Returns its exit code, 128 +
/// the signal that ended it, or 127 if it cannot be started.
int run_program(const std::vector<std::string> &arguments, const std::filesystem::path &log);

} // namespace gradweave::wave
