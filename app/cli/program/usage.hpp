// What a command line without a subcommand means: help, version, and what is wrong with one that nobody understands.
#pragma once

#include "app/cli/common/arguments.hpp"

#include <CLI/App.hpp>

#include <optional>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Adds --version and -V and the subcommands help and version, as the last ones.
void add_help(CLI::App &app, std::string &about, Chosen &chosen);

/// Parses the command line; the exit code if that is all there is to do: help was shown, or an error told.
std::optional<int> parse(CLI::App &app, int argc, char **argv);

} // namespace gradweave::cli
