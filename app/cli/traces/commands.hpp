// What draws and compares the traces of runs: subcommands, each added to the parser as arguments.hpp has it.
#pragma once

#include "app/cli/common/arguments.hpp"

namespace CLI {
class App;
}

namespace gradweave::cli {

void add_timeline(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_wavediff(CLI::App &app, const Invocation &invocation, Chosen &chosen);

} // namespace gradweave::cli
