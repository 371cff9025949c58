// What the programs of the command have in common, from the command line to the exit code.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/cli/common/subcommands.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::cli {

/// What a program adds to the parser: a subcommand or, with it, those that are described in one place.
struct Adder {
  std::string_view name; ///< the first of them
  void (*add)(CLI::App &app, const Invocation &invocation, Chosen &chosen);
};

/// What a program is.
struct ProgramParts {
  Program program = Program::kLayers;
  std::vector<Adder> adders;
  LargerParts larger;
  /// Adds `reference`, where all subcommands are; null elsewhere.
  void (*add_reference)(CLI::App &app, std::string &what, Chosen &chosen) = nullptr;
};

/// All of main(): what a command throws becomes a message and an exit code. A command line that a larger program is for
/// is handed on to that.
int run_program(const ProgramParts &parts, int argc, char **argv);

} // namespace gradweave::cli
