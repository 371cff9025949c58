// The tables of a study's file, read key by key.
#pragma once

#include "isa/toml.hpp"
#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gradweave::evaluation {

/// One table of the file; every error is a ConfigError with file, line and remedy. Remembers which keys it was asked
/// for.
class TableReader {
public:
  TableReader(std::string file, const toml::table &table, std::string name)
      : file_(std::move(file)), table_(table), name_(std::move(name)) {}

  template <typename T> T get(std::string_view key, const char *kind) {
    const toml::node &node = require(key);
    return value<T>(node, key, kind);
  }
  std::string text(std::string_view key) { return get<std::string>(key, "a string"); }
  std::string text_or(std::string_view key, std::string_view otherwise) {
    if (table_.contains(key)) return text(key);
    known_.push_back(key);
    return std::string(otherwise);
  }
  std::uint32_t count(std::string_view key) { return get<std::uint32_t>(key, "a whole number"); }
  template <typename T> std::vector<T> list(std::string_view key, const char *kind) {
    const toml::node &node = require(key);
    const toml::array *array = node.as_array();
    if (array == nullptr || array->empty()) fail(node, fmt::format("{} must be a list of at least one item", key));
    std::vector<T> values;
    for (const toml::node &item : *array)
      values.push_back(value<T>(item, key, kind));
    return values;
  }
  void reject_unknown_keys() const {
    for (const auto &[key, node] : table_)
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
        fail(node, fmt::format("unknown key '{}' in {}; known keys: {}", key.str(), name_, fmt::join(known_, ", ")));
  }
  [[noreturn]] void fail(const toml::node &node, const std::string &problem) const {
    throw ConfigError(fmt::format("{}:{}: {}", file_, node.source().begin.line, problem));
  }

private:
  const toml::node &require(std::string_view key) {
    known_.push_back(key);
    if (const toml::node *node = table_.get(key)) return *node;
    fail(table_, fmt::format("{} has no '{}'; add it", name_, key));
  }
  template <typename T> T value(const toml::node &node, std::string_view key, const char *kind) const {
    if (const auto found = node.value<T>()) {
      if constexpr (std::is_arithmetic_v<T>)
        if (!(*found > T{0}) && key != "value") fail(node, fmt::format("{} must be above 0", key));
      return *found;
    }
    fail(node, fmt::format("{} must be {}", key, kind));
  }

  std::string file_;
  const toml::table &table_;
  std::string name_;
  std::vector<std::string_view> known_;
};

/// The tables of `text`, the contents of `file`. Throws ConfigError for text that is no TOML.
toml::table parse_tables(std::string_view text, const std::filesystem::path &file);

/// The table [name]; throws ConfigError if there is none.
TableReader read_table(const std::filesystem::path &file, const toml::table &root, const std::string &name);

/// A path that the file gives relative to itself; names as they are.
std::string beside(const std::filesystem::path &file, const std::string &name);

/// Calls `read` with each table of the list [[name]], of which there has to be one.
template <typename Read>
void for_each_table(const std::filesystem::path &file, const toml::table &root, std::string_view name,
                    const Read &read) {
  const toml::node *node = root.get(name);
  const toml::array *array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr || array->empty())
    throw ConfigError(fmt::format("{}: there is no [[{}]]; add at least one", file.string(), name));
  for (const toml::node &item : *array) {
    if (!item.is_table())
      throw ConfigError(
          fmt::format("{}:{}: {} must be tables; write [[{}]]", file.string(), item.source().begin.line, name, name));
    TableReader reader(file.string(), *item.as_table(), fmt::format("[[{}]]", name));
    read(reader, item);
    reader.reject_unknown_keys();
  }
}

} // namespace gradweave::evaluation
