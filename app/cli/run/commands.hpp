// What runs layers on an NPU, and whole evaluations: subcommands, each added to the parser as arguments.hpp has it.
#pragma once

#include "app/cli/common/arguments.hpp"

namespace CLI {
class App;
}

namespace gradweave::cli {

void add_cosim(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_simulate(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_train(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_validate(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_weave(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_serve(CLI::App &app, const Invocation &invocation, Chosen &chosen);
void add_reproduce(CLI::App &app, const Invocation &invocation, Chosen &chosen);

} // namespace gradweave::cli
