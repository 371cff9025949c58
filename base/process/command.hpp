// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace gradweave {

struct CommandEnd {
  int code = 0;       ///< exit code; 127: there is no such program; 128 and the signal's number if one ended it
  std::string output; ///< standard output
  std::string errors; ///< standard error
};

/// Runs `words`, the first of which is looked for in PATH, without standard input. Throws std::system_error if no
/// process can be made.
CommandEnd run_command(const std::vector<std::string> &words);

/// The same, but what it prints goes to this process's standard error, all of it; the exit code. Signals reach it even
/// where this process holds them back, and SIGTERM does when this process ends.
int run_visibly(const std::vector<std::string> &words);

} // namespace gradweave
