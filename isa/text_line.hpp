// A line of the text form of commands, cut into words, and its key=value arguments. Every error names its place.
#pragma once

#include "isa/assembly_error.hpp"
#include "isa/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::isa {

struct Token {
  std::string_view text;
  std::size_t column = 1;
};

/// One line being read; every error names its place.
class Line {
public:
  Line(std::string_view name, std::size_t number, std::string_view text) : name_(name), number_(number) {
    text = text.substr(0, text.find('#'));
    constexpr std::string_view kSpace = " \t\r";
    for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
      tokens_.push_back({text.substr(at, end - at), at + 1});
      at = text.find_first_not_of(kSpace, end);
    }
  }

  const std::vector<Token> &tokens() const { return tokens_; }

  [[noreturn]] void fail(const Token &where, const std::string &problem) const {
    throw AssemblyError(fmt::format("{}:{}:{}: {}", name_, number_, where.column, problem));
  }

  std::uint64_t number(const Token &t, std::uint64_t max, std::string_view what) const {
    const bool hex = t.text.substr(0, 2) == "0x" || t.text.substr(0, 2) == "0X";
    const std::string_view digits = hex ? t.text.substr(2) : t.text;
    std::uint64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
    if (result.ec == std::errc::result_out_of_range || (result.ec == std::errc{} && value > max))
      fail(t, fmt::format("{} = {} is too large; use 0 to {}", what, t.text, max));
    if (result.ec != std::errc{} || result.ptr != digits.data() + digits.size())
      fail(t, fmt::format("'{}' is not a number for {}; use decimal or 0x hexadecimal digits", t.text, what));
    return value;
  }

  /// Splits "a:b:c" into its parts with their columns.
  static std::vector<Token> split(const Token &t, char separator) {
    std::vector<Token> parts;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= t.text.size(); ++i)
      if (i == t.text.size() || t.text[i] == separator) {
        parts.push_back({t.text.substr(start, i - start), t.column + start});
        start = i + 1;
      }
    return parts;
  }

private:
  std::string_view name_;
  std::size_t number_;
  std::vector<Token> tokens_;
};

/// The key=value arguments of a line; each key may be asked for once, and none may be left over.
class Arguments {
public:
  Arguments(const Line &line, std::size_t first) : line_(line) {
    for (std::size_t i = first; i < line.tokens().size(); ++i) {
      const Token &t = line.tokens()[i];
      const std::size_t eq = t.text.find('=');
      if (eq == std::string_view::npos || eq == 0)
        line.fail(t, fmt::format("'{}' is not key=value; write, for example, tag=1", t.text));
      const Token key{t.text.substr(0, eq), t.column};
      if (find(key.text) != nullptr) line.fail(t, fmt::format("'{}' is given twice; keep one", key.text));
      entries_.push_back({key, {t.text.substr(eq + 1), t.column + eq + 1}, false});
    }
  }

  const Token *optional(std::string_view key) {
    known_.emplace_back(key);
    Entry *e = find(key);
    if (e == nullptr) return nullptr;
    e->used = true;
    return &e->value;
  }

  const Token &required(std::string_view key) {
    const Token *t = optional(key);
    if (t == nullptr) line_.fail(line_.tokens().front(), fmt::format("{} is missing; add {}=...", key, key));
    return *t;
  }

  std::uint32_t number(std::string_view key, const Field &f) { return value(required(key), f); }
  std::uint32_t number_or(std::string_view key, const Field &f, std::uint32_t otherwise) {
    const Token *t = optional(key);
    return t == nullptr ? otherwise : value(*t, f);
  }
  /// Fields of the same meaning have the same width in every command, so the DMA's serve as the measure for all tiles.
  SpmTile tile(const Token &where, const std::vector<Token> &parts, std::string_view form) {
    if (parts.size() != 3) line_.fail(where, fmt::format("'{}' is no tile; write {}", where.text, form));
    SpmTile t;
    t.row = value(parts[0], field::SPM_ROW);
    t.pstride = value(parts[1], field::SPM_PSTRIDE);
    t.rot = static_cast<Lane>(value(parts[2], field::SPM_ROT));
    return t;
  }
  SpmTile tile(const Token &t) { return tile(t, Line::split(t, ':'), "ROW:PSTRIDE:ROT"); }
  SpmTile walked_tile(const Token &t, bool &by_columns) {
    constexpr std::string_view kForm = "row:ROW:PSTRIDE:ROT or col:ROW:PSTRIDE:ROT";
    std::vector<Token> parts = Line::split(t, ':');
    by_columns = parts.front().text == "col";
    if (!by_columns && parts.front().text != "row")
      line_.fail(t, fmt::format("'{}' names no walk; write {}", t.text, kForm));
    parts.erase(parts.begin());
    return tile(t, parts, kForm);
  }

  /// The keys that are a letter of `letters` and a digit, in the order of the line. They count as used.
  std::vector<std::pair<Token, Token>> numbered(std::string_view letters) {
    std::vector<std::pair<Token, Token>> found;
    for (Entry &e : entries_) {
      const std::string_view key = e.key.text;
      if (key.size() != 2 || letters.find(key[0]) == std::string_view::npos || key[1] < '0' || key[1] > '9') continue;
      e.used = true;
      found.emplace_back(e.key, e.value);
    }
    return found;
  }

  void reject_unused() const {
    for (const Entry &e : entries_)
      if (!e.used)
        line_.fail(e.key, fmt::format("unknown key '{}' of {}; known keys: {}", e.key.text, line_.tokens().front().text,
                                      fmt::join(known_, ", ")));
  }

  /// "A:B:C" as the values of so many fields; those of `signed_fields` may be negative.
  std::vector<std::int32_t> numbers(std::string_view key, const std::vector<Field> &fields, std::string_view form,
                                    bool signed_fields = false) {
    const Token &t = required(key);
    const std::vector<Token> parts = Line::split(t, ':');
    if (parts.size() != fields.size()) line_.fail(t, fmt::format("'{}' is no {}; write {}={}", t.text, key, key, form));
    std::vector<std::int32_t> values;
    for (std::size_t i = 0; i < parts.size(); ++i)
      values.push_back(signed_fields ? signed_value(parts[i], fields[i])
                                     : static_cast<std::int32_t>(value(parts[i], fields[i])));
    return values;
  }

  std::int32_t signed_value(const Token &t, const Field &f) const {
    const bool negative = t.text.substr(0, 1) == "-";
    const Token digits{t.text.substr(negative ? 1 : 0), t.column + (negative ? 1 : 0)};
    const std::uint64_t top = std::uint64_t{1} << (f.width - 1U);
    const auto size = static_cast<std::int32_t>(line_.number(digits, negative ? top : top - 1, f.name));
    return negative ? -size : size;
  }

  std::uint32_t value(const Token &t, const Field &f) const {
    return static_cast<std::uint32_t>(line_.number(t, (std::uint64_t{1} << f.width) - 1, f.name));
  }

private:
  struct Entry {
    Token key, value;
    bool used;
  };
  Entry *find(std::string_view key) {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &e) { return e.key.text == key; });
    return it == entries_.end() ? nullptr : &*it;
  }

  const Line &line_;
  std::vector<Entry> entries_;
  std::vector<std::string> known_;
};

} // namespace gradweave::isa
