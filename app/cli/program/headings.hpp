// Long lists of options under headings.
#pragma once

#include <CLI/App.hpp>

namespace gradweave::cli {

/// Options a command may have without headings in its help.
constexpr std::size_t kShortList = 12;

/// Puts the options of each subcommand that has more under headings, the same for all commands. An option that has a
/// heading of its own keeps it.
void add_headings(CLI::App &app);

} // namespace gradweave::cli
