// From a program to one that has more subcommands.
#pragma once

#include "app/cli/common/subcommands.hpp"

namespace gradweave::cli {

/// Runs the command line in `program` instead of this process's, under the name that this one was called by; an
/// ordinary build directory builds it first. Returns only if that cannot be: the exit code, told with the remedy.
int hand_on(Program program, char **argv);

} // namespace gradweave::cli
