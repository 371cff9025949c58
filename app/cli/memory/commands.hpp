// The memory model: a subcommand, added to the parser as arguments.hpp has it.
#pragma once

#include "app/cli/common/arguments.hpp"

namespace CLI {
class App;
}

namespace gradweave::cli {

void add_memory(CLI::App &app, const Invocation &invocation, Chosen &chosen);

} // namespace gradweave::cli
