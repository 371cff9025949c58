// The manual page and bash's completion, both from the options as they are.
#pragma once

#include "app/cli/common/arguments.hpp"

#include <string>

namespace CLI {
class App;
}

namespace gradweave::cli {

/// A page for man(1), in roff.
std::string man_page(const CLI::App &app);
/// A script that bash's completion loads.
std::string bash_completion(const CLI::App &app);

/// The subcommand `reference`, which prints either; `what`, `chosen` and the parser outlive it. Help does not list it.
void add_reference(CLI::App &app, std::string &what, Chosen &chosen);

} // namespace gradweave::cli
