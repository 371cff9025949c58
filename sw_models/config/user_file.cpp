#include "sw_models/config/user_file.hpp"

#include "sw_models/config/config_error.hpp" // ConfigError

namespace gradweave {
namespace {

template <typename Read> auto as_config_error(const Read &read) {
  try {
    return read();
  } catch (const InputError &error) {
    throw ConfigError(error.what());
  }
}

} // namespace

void check_user_file(const std::filesystem::path &file, const InputLimit &limit) {
  as_config_error([&] { check_input_file(file, limit); });
}

std::string read_user_bytes(const std::filesystem::path &file, const InputLimit &limit) {
  return as_config_error([&] { return read_input_bytes(file, limit); });
}

std::string read_user_text(const std::filesystem::path &file, const InputLimit &limit) {
  return as_config_error([&] { return read_input_text(file, limit); });
}

} // namespace gradweave
