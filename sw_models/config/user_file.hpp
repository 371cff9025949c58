// Files of a user, read as base/text/input_file.hpp says; what is wrong with them is a ConfigError.
#pragma once

#include "base/text/input_file.hpp"

#include <filesystem>
#include <string>

namespace gradweave {

/// check_input_file(), read_input_bytes() and read_input_text(), but throw ConfigError.
void check_user_file(const std::filesystem::path &file, const InputLimit &limit);
std::string read_user_bytes(const std::filesystem::path &file, const InputLimit &limit);
std::string read_user_text(const std::filesystem::path &file, const InputLimit &limit);

} // namespace gradweave
