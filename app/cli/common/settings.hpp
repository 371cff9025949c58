// Options that change what files say.
#pragma once

#include "app/request/settings.hpp"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace gradweave::cli {

enum class Settable { kMachine, kMachineAndNetwork };
/// --set, which may be repeated.
void add_set_option(CLI::App &command, std::vector<std::string> &set, Settable what);

/// --frozen and --learned, which may be repeated.
void add_frozen_options(CLI::App &command, std::vector<std::string> &frozen, std::vector<std::string> &learned);

/// --until.
void add_until_option(CLI::App &command, std::string &until);

} // namespace gradweave::cli
