// gradweave sweep collect
#pragma once

#include "app/cli/common/arguments.hpp"

#include <CLI/App.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::sweep {
class Store;
}

namespace gradweave::cli {

/// Adds it below the subcommand sweep.
void add_collect(CLI::App &sweep, Chosen &chosen);

/// Warns of results that were not as they were written, if there are any, with what follows.
void tell_dropped(const sweep::Store &store, const char *consequence);

/// Takes the results of files over, those that other processes have to themselves excepted, about which it tells. How
/// many are new. Throws DatabaseError.
std::size_t merge_all(sweep::Store &store, const std::vector<std::filesystem::path> &files);

} // namespace gradweave::cli
