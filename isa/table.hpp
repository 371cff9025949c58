// What the generators read of their TOML tables: what is missing is a std::runtime_error that names the key.
#pragma once

#include "isa/toml.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gradweave::isa {

inline std::string str(const toml::table &t, std::string_view key) {
  auto v = t[key].value<std::string>();
  if (!v) throw std::runtime_error(fmt::format("missing string '{}'", key));
  return *v;
}

inline std::int64_t num(const toml::table &t, std::string_view key) {
  auto v = t[key].value<std::int64_t>();
  if (!v) throw std::runtime_error(fmt::format("missing integer '{}'", key));
  return *v;
}

/// Calls `f` with each table of the array of tables `key`.
template <typename F> void each(const toml::table &root, std::string_view key, F f) {
  const toml::array *a = root[key].as_array();
  if (a == nullptr) throw std::runtime_error(fmt::format("missing [[{}]]", key));
  for (const auto &node : *a)
    f(*node.as_table());
}

} // namespace gradweave::isa
