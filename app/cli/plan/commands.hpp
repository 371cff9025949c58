// What compiles layers or looks at what was compiled: subcommands, each added to the parser as arguments.hpp has it.
#pragma once

#include "app/cli/common/arguments.hpp"

namespace CLI {
class App;
}

namespace gradweave::cli {

void add_compile(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_search(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_streams(CLI::App &app, const Invocation &invocation, Chosen &chosen); ///< disasm, asm
void add_tasks(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_models(CLI::App &app, const Invocation &invocation, Chosen &chosen);

} // namespace gradweave::cli
