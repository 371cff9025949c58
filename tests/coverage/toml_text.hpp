// Texts in the lists of bins and waivers.
#pragma once

#include "isa/toml.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace gradweave::coverage {

/// The text of `key`; throws std::runtime_error that begins with `where` if there is none.
inline std::string text(const toml::table &table, const char *key, const std::string &where) {
  const auto value = table[key].value<std::string>();
  if (!value || value->empty()) throw std::runtime_error(fmt::format("{}: '{}' is missing or no text", where, key));
  return *value;
}

} // namespace gradweave::coverage
