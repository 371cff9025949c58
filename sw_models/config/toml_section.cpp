#include "sw_models/config/toml_section.hpp"

#include "sw_models/config/config_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace gradweave {

void refuse_config(const std::string &file, std::uint32_t line, const std::string &problem) {
  if (line == 0) throw ConfigError(fmt::format("{}: {}", file, problem));
  throw ConfigError(fmt::format("{}:{}: {}", file, line, problem));
}

bool set_value(toml::table &table, std::string_view key, std::string_view text, const std::string &source) {
  toml::table parsed;
  try {
    parsed = toml::parse(fmt::format("value = {}", text), source);
  } catch (const toml::parse_error &) {
    return false;
  }
  if (parsed.size() != 1) return false;
  // Moved, since a copy does not know where it was written.
  parsed.begin()->second.visit([&](auto &node) { table.insert_or_assign(key, std::move(node)); });
  return true;
}

void TomlSection::refuse_at(const toml::node &node, const std::string &problem) const {
  const toml::source_region &source = node.source();
  if (source.path != nullptr && *source.path != file_) refuse_config(*source.path, 0, problem); // not the file's
  refuse_config(file_, source.begin.line, problem);
}

void TomlSection::refuse(std::string_view key, const std::string &problem) const {
  refuse_at(*table_.get(key), problem);
}

std::string TomlSection::text(std::string_view key, std::string_view example) {
  const toml::node &n = require(key, example);
  if (!n.is_string()) bad_type(key, n, "a string", example);
  return n.as_string()->get();
}

std::optional<std::string> TomlSection::text_if_any(std::string_view key, std::string_view example) {
  if (table_.get(key) != nullptr) return text(key, example);
  known_.push_back(key);
  return std::nullopt;
}

std::vector<std::string> TomlSection::texts(std::string_view key, std::string_view example) {
  const toml::node &n = require(key, example);
  if (!n.is_array()) bad_type(key, n, "an array of strings", example);
  std::vector<std::string> values;
  for (const toml::node &item : *n.as_array()) {
    if (!item.is_string()) bad_type(key, item, "an array of strings", example);
    values.push_back(item.as_string()->get());
  }
  return values;
}

std::uint64_t TomlSection::integer(std::string_view key, std::uint64_t low, std::uint64_t high,
                                   std::string_view example) {
  const toml::node &n = require(key, example);
  if (!n.is_integer()) bad_type(key, n, "an integer", example);
  const std::int64_t v = n.as_integer()->get();
  if (v < 0 || static_cast<std::uint64_t>(v) < low || static_cast<std::uint64_t>(v) > high)
    refuse(key, fmt::format("{} = {} is out of range; use {} to {}", key, v, low, high));
  return static_cast<std::uint64_t>(v);
}

std::uint32_t TomlSection::integer32(std::string_view key, std::uint32_t low, std::uint32_t high,
                                     std::string_view example) {
  return static_cast<std::uint32_t>(integer(key, low, high, example));
}

std::uint32_t TomlSection::integer32_or(std::string_view key, std::uint32_t low, std::uint32_t high,
                                        std::uint32_t otherwise) {
  if (table_.get(key) != nullptr) return integer32(key, low, high, fmt::format("{}", otherwise));
  known_.push_back(key);
  return otherwise;
}

std::vector<std::uint32_t> TomlSection::integers32(std::string_view key, std::uint32_t low, std::uint32_t high,
                                                   std::string_view example) {
  const toml::node &n = require(key, example);
  if (!n.is_array()) bad_type(key, n, "an array of integers", example);
  std::vector<std::uint32_t> values;
  for (const toml::node &element : *n.as_array()) {
    if (!element.is_integer()) bad_type(key, element, "an array of integers", example);
    const std::int64_t v = element.as_integer()->get();
    if (v < low || v > high)
      refuse(key, fmt::format("{} has {}, which is out of range; use {} to {}", key, v, low, high));
    values.push_back(static_cast<std::uint32_t>(v));
  }
  return values;
}

std::uint32_t TomlSection::line(std::string_view key) const { return table_.get(key)->source().begin.line; }

double TomlSection::number(std::string_view key, double low, double high, std::string_view example) {
  const toml::node &n = require(key, example);
  if (!n.is_number()) bad_type(key, n, "a number", example);
  const double v = *n.value<double>();
  if (!(v >= low && v <= high)) // false for NaN too
    refuse(key, fmt::format("{} = {} is out of range; use {} to {}", key, v, low, high));
  return v;
}

std::optional<double> TomlSection::number_if_any(std::string_view key, double low, double high,
                                                 std::string_view example) {
  if (table_.get(key) != nullptr) return number(key, low, high, example);
  known_.push_back(key);
  return std::nullopt;
}

void TomlSection::reject_unknown_keys() const {
  for (const auto &[key, node] : table_)
    if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
      refuse_at(node,
                fmt::format("unknown key '{}' in [{}]; known keys: {}", key.str(), name_, fmt::join(known_, ", ")));
}

const toml::node &TomlSection::require(std::string_view key, std::string_view example) {
  known_.push_back(key);
  const toml::node *n = table_.get(key);
  if (n == nullptr)
    refuse_config(file_, table_.source().begin.line,
                  fmt::format("missing key '{}' in [{}]; add, for example, {} = {}", key, name_, key, example));
  return *n;
}

void TomlSection::bad_type(std::string_view key, const toml::node &node, std::string_view wanted,
                           std::string_view example) const {
  std::ostringstream type;
  type << node.type();
  refuse_at(node, fmt::format("{} must be {}, but is of type {}; write, for example, {} = {}", key, wanted, type.str(),
                              key, example));
}

} // namespace gradweave
