// What the subcommands that run layers share: resolving names, schedules, exit codes.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "compiler/compiler.hpp"
#include "graph/frontend/load_network.hpp"
#include "runtime/job/job.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::cli {

struct Work {
  compiler::Network network;
  Machine npu;
  std::vector<compiler::Layer> layers;
  compiler::CompileOptions compile; ///< but for the schedule, of which there may be several

  /// What the layers are to be compiled with under a schedule.
  compiler::CompileOptions compile_as(compiler::Schedule schedule) const {
    compiler::CompileOptions options = compile;
    options.schedule = schedule;
    return options;
  }
};

/// Throws ConfigError for files, std::invalid_argument for the rest.
Work resolve(const WorkArguments &arguments);
/// The network of it, as its file and --set say, and the rest when that has been read before.
compiler::Network resolve_network(const WorkArguments &arguments);
Work resolve(const WorkArguments &arguments, compiler::Network network);

/// Builds the Verilated NPU that a run needs if it is not there; throws std::runtime_error with the remedy if it cannot
/// be built from here. `argument`: the NPU as the user gave it.
void require_rtl(const Machine &npu, const std::string &argument);

/// Throws std::invalid_argument if a network's name, and no file, is where a stream is expected.
void check_stream_name(const std::string &file);

/// A schedule's name, or all; throws std::invalid_argument listing what there is.
std::vector<compiler::Schedule> parse_schedules(const std::string &text);

/// Whether one of these outputs, each with the option that asked for it, goes to standard output ("-"). Throws
/// std::invalid_argument if several do.
bool uses_standard_output(const std::vector<std::pair<std::string, std::string>> &outputs);

/// `text` as one word of a POSIX shell, for commands that repeat a run.
std::string shell_word(const std::string &text);

/// The plans that earlier runs of this version of the tool found; null if there is no place for them.
std::unique_ptr<compiler::PlanStore> plan_store(const WorkArguments &arguments);

/// What the process says at its end.
ExitCode exit_code(runtime::Outcome outcome);

} // namespace gradweave::cli
