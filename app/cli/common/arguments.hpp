// What the subcommands of gradweave have in common.
#pragma once

#include "app/request/work_arguments.hpp"
#include "base/process/signal_guard.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Exit codes, documented in docs/cli.md.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,       ///< a result bit or a counter is wrong
  kUsage = 2,        ///< the command line is wrong
  kBadInput = 3,     ///< a file is wrong, or does not fit the NPU
  kDevice = 4,       ///< the NPU stopped with an error, timed out, or its simulation could not run
  kOutput = 5,       ///< an output cannot be written
  kRunning = 6,      ///< of --status: a run has not ended yet
  kInterrupted = 130 ///< of --status: a run was. A run itself ends with exit_code_of() the signal
};

struct CosimArguments;
struct SimulateArguments;

/// What subcommands of the smallest program do in larger ones alone (subcommands.hpp); null in the smallest.
struct LargerParts {
  int (*cosim_step)(const CosimArguments &arguments, const SignalGuard &signals) = nullptr; ///< --step
  int (*simulate_step)(const SimulateArguments &arguments, const SignalGuard &signals) = nullptr;
  std::string (*run_page)(const nlohmann::ordered_json &report) = nullptr; ///< --html
};

/// How the command was called.
struct Invocation {
  std::string program = "gradweave";
  std::vector<std::string> command_line; ///< all of it
  LargerParts larger;
};

/// What the parsed command line asks for. Returns the exit code, and throws what run_program() knows. The guard
/// ends the process at a signal whatever the command does; one that saves something then asks it. Each
/// subcommand has a function (commands.hpp of its room) that adds it, with options and help, to the parser, which sets
/// `chosen` when it is parsed; `chosen` must outlive the parser.
using Chosen = std::function<int(SignalGuard &)>;

} // namespace gradweave::cli
