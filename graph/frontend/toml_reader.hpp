// Typed access to a table of a TOML file, with errors that name the line of the entry at fault.
#pragma once

#include "graph/frontend/network_file.hpp"
#include "isa/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

class TableReader {
public:
  /// `what` is how messages call the table.
  TableReader(const std::filesystem::path &file, const toml::table &table, std::string_view what)
      : file_(file), table_(table), what_(what) {}

  /// Throws ConfigError if the table has any other key.
  void only(std::initializer_list<std::string_view> known) const {
    for (const auto &[key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fail(file_, key.source().begin.line,
             fmt::format("unknown key '{}' in {}; known keys: {}", key.str(), what_, fmt::join(known, ", ")));
  }

  /// The value, nothing if the key is missing; throws ConfigError if it is of another type, `kind` in words.
  template <typename T> std::optional<T> get(std::string_view key, std::string_view kind) const {
    const toml::node *node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    auto value = node->value_exact<T>();
    if (!value) fail(file_, line(key), fmt::format("'{}' in {} must be {}", key, what_, kind));
    return value;
  }

  std::string text(std::string_view key, std::string fallback) const {
    return get<std::string>(key, "text in quotes").value_or(std::move(fallback));
  }

  std::optional<std::uint32_t> dimension(std::string_view key) const {
    const auto value = get<std::int64_t>(key, "a whole number");
    if (!value) return std::nullopt;
    return checked_dimension(file_, line(key), key, *value);
  }

  std::uint32_t required_dimension(std::string_view key) const {
    const auto value = dimension(key);
    if (!value) fail(file_, line(), fmt::format("{} has no '{}'; add {} = <whole number>", what_, key, key));
    return *value;
  }

  /// A count, which may be 0 and is not bounded by what a dimension can be.
  std::optional<std::uint64_t> count(std::string_view key) const {
    const auto value = get<std::int64_t>(key, "a whole number");
    if (!value) return std::nullopt;
    if (*value < 0) fail(file_, line(key), fmt::format("{} = {} is negative; give a count", key, *value));
    return static_cast<std::uint64_t>(*value);
  }

  /// The entry itself, null if missing.
  const toml::node *node(std::string_view key) const { return table_.get(key); }

  /// The tables of the list `key`, none if missing; throws ConfigError unless it is a list of tables, `remedy` in
  /// words.
  std::vector<const toml::table *> tables(std::string_view key, std::string_view remedy) const {
    std::vector<const toml::table *> result;
    const toml::node *node = table_.get(key);
    if (node == nullptr) return result;
    const toml::array *entries = node->as_array();
    if (entries == nullptr || !entries->is_homogeneous(toml::node_type::table))
      fail(file_, line(key), fmt::format("'{}' must be a list of tables; {}", key, remedy));
    for (const toml::node &entry : *entries)
      result.push_back(entry.as_table());
    return result;
  }

  const std::filesystem::path &file() const { return file_; }
  std::size_t line() const { return table_.source().begin.line; }
  /// Of an entry that exists.
  std::size_t line(std::string_view key) const { return line_of(*table_.get(key)); }

private:
  /// 0 for what is not of the file but was set (parse_network_toml()), and has a path of its own.
  static std::size_t line_of(const toml::node &node) {
    return node.source().path == nullptr ? node.source().begin.line : 0;
  }

  const std::filesystem::path &file_;
  const toml::table &table_;
  std::string_view what_;
};

} // namespace gradweave::compiler
