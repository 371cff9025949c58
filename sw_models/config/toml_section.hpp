// One table of a configuration file. Every key is required unless it says otherwise, and every unknown one is an error,
// so that a typo cannot silently select a default.
#pragma once

#include "isa/toml.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave {

/// Throws ConfigError "FILE:LINE: PROBLEM"; line 0: there is none.
[[noreturn]] void refuse_config(const std::string &file, std::uint32_t line, const std::string &problem);

/// Gives `key` of the table a value in TOML, as `text` has it; `source` is what errors call its file. Returns false,
/// and changes nothing, if the text is none.
bool set_value(toml::table &table, std::string_view key, std::string_view text, const std::string &source);

/// Remembers which keys it was asked for. All throw ConfigError naming file, line, key, value and remedy.
class TomlSection {
public:
  /// `file` and `table` outlive the section, which messages call by `name`.
  TomlSection(const std::string &file, const toml::table &table, std::string_view name)
      : file_(file), name_(name), table_(table) {}

  std::string text(std::string_view key, std::string_view example);
  /// The same for a key that may be left out.
  std::optional<std::string> text_if_any(std::string_view key, std::string_view example);
  /// An array of strings.
  std::vector<std::string> texts(std::string_view key, std::string_view example);
  std::uint64_t integer(std::string_view key, std::uint64_t low, std::uint64_t high, std::string_view example);
  std::uint32_t integer32(std::string_view key, std::uint32_t low, std::uint32_t high, std::string_view example);
  /// The same for a key that may be left out.
  std::uint32_t integer32_or(std::string_view key, std::uint32_t low, std::uint32_t high, std::uint32_t otherwise);
  /// An array of such.
  std::vector<std::uint32_t> integers32(std::string_view key, std::uint32_t low, std::uint32_t high,
                                        std::string_view example);
  /// A decimal number; integers are accepted.
  double number(std::string_view key, double low, double high, std::string_view example);
  /// The same for a key that may be left out.
  std::optional<double> number_if_any(std::string_view key, double low, double high, std::string_view example);
  /// After all keys were read: any other is a mistake.
  void reject_unknown_keys() const;
  /// Of a key that is there.
  std::uint32_t line(std::string_view key) const;
  /// Refuses the value of a key that is there.
  [[noreturn]] void refuse(std::string_view key, const std::string &problem) const;

private:
  [[noreturn]] void refuse_at(const toml::node &node, const std::string &problem) const;
  const toml::node &require(std::string_view key, std::string_view example);
  [[noreturn]] void bad_type(std::string_view key, const toml::node &node, std::string_view wanted,
                             std::string_view example) const;

  const std::string &file_;
  std::string name_;
  const toml::table &table_;
  std::vector<std::string_view> known_;
};

} // namespace gradweave
