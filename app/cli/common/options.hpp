// Options that several subcommands have.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/request/repeat_command.hpp"

#include <CLI/App.hpp>

#include <cstdint>
#include <string>

namespace gradweave::cli {

/// For CLI::Option::check(). CLI11 takes -1 for the largest number and anything beyond for it too; here both are
/// errors.
std::string check_whole_number(const std::string &text);
/// The same of numbers from `least` to `most`, which help shows.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// The same for a number with a fraction: CLI11's ranges take "nan".
std::string check_finite(const std::string &text);

enum class Schedules { kOne, kSeveral }; ///< what --schedule takes; several: also `all`
/// The work.
void add_work_options(CLI::App &command, WorkArguments &work, Schedules schedules);

/// --batch.
void add_batch_option(CLI::App &command, std::uint32_t &batch);

/// --convolution: what convolutions read.
void add_convolution_option(CLI::App &command, std::string &convolution);

/// --plan-cache.
void add_plan_cache_option(CLI::App &command, WorkArguments &work);

/// The help of --pass.
std::string help_of_pass();

/// --accelergy.
void add_accelergy_option(CLI::App &command, std::string &file);

/// --times and --timeline.
void add_times_options(CLI::App &command, std::string &times, std::string &timeline);

} // namespace gradweave::cli
