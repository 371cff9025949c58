#include "graph/text/token.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::graph::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.'; }

bool all_digits(std::string_view text) {
  return !text.empty() && is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '_'; });
}

/// Digits, perhaps a point and digits, and where `exponent`, an e at the end.
bool is_mantissa(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text);
  return all_digits(text.substr(0, point)) && (point + 1 == text.size() || all_digits(text.substr(point + 1)));
}

bool ends_in_exponent(std::string_view text) {
  return text.size() > 1 && (text.back() == 'e' || text.back() == 'E') && is_mantissa(text.substr(0, text.size() - 1));
}

bool is_real(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string_view::npos) return text.find('.') != std::string_view::npos && is_mantissa(text);
  std::string_view power = text.substr(e + 1);
  if (!power.empty() && (power.front() == '+' || power.front() == '-')) power.remove_prefix(1);
  return is_mantissa(text.substr(0, e)) && all_digits(power);
}

constexpr std::array<std::string_view, 5> kLongSymbols = {"..", "==", "!=", "<=", ">="};
constexpr std::string_view kSymbols = "()[],=:~!+-*/%<>";
/// What begins a statement or ends an operator's, and numbers that are words.
constexpr std::array<std::string_view, 26> kReserved = {
    "_",         "graph", "description", "source",   "published", "let",  "input", "head",  "frozen",
    "parameter", "state", "update",      "constant", "result",    "loss", "role",  "block", "for",
    "in",        "end",   "recompute",   "return",   "boundary",  "as",   "inf",   "nan"};

} // namespace

void fail(const std::string &file, std::size_t line, std::string_view message) {
  throw GraphError(line == 0 ? fmt::format("{}: {}", file, message) : fmt::format("{}:{}: {}", file, line, message));
}

std::string describe(const Token &token) {
  switch (token.kind) {
  case TokenKind::kEnd:
    return "the end of the file";
  case TokenKind::kNewline:
    return "the end of the line";
  case TokenKind::kText:
    return in_quotes(token.text, '"');
  default:
    return in_quotes(token.text, '\'');
  }
}

void Lexer::skip_blanks() {
  for (;; ++at_) {
    if (at() == '#')
      while (at_ < text_.size() && at() != '\n')
        ++at_;
    const bool joins = at() == '\n' && open_ > 0;
    if (joins) ++line_;
    if (!joins && at() != ' ' && at() != '\t' && at() != '\r') return;
  }
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= text_.size()) return {TokenKind::kEnd, "", line_};
  const char c = at();
  if (c == '\n') {
    ++at_;
    return {TokenKind::kNewline, "", line_++};
  }
  if (c == '"' || c == '\'') return quoted(c);
  if ((is_word(c) && c != '.') || c == '{') return word();
  return symbol();
}

char Lexer::escaped() {
  const char c = at(1);
  at_ += 2;
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c == '\\' || c == '"' || c == '\'') return c;
  const auto digit = [](char d) { return std::string_view("0123456789abcdef").find(d); };
  if (c == 'x' && at_ + 1 < text_.size() && digit(at()) < 16 && digit(at(1)) < 16) {
    const std::size_t value = digit(at()) * 16 + digit(at(1));
    at_ += 2;
    return static_cast<char>(static_cast<unsigned char>(value));
  }
  fail(file_, line_,
       "a backslash in quotes stands before n, t, \\, a quote, or x and two digits 0 to f; write \\\\ for it");
}

Token Lexer::quoted(char mark) {
  Token token{mark == '"' ? TokenKind::kText : TokenKind::kQuoted, "", line_};
  for (++at_; at() != mark;) {
    if (at_ >= text_.size() || at() == '\n')
      fail(file_, line_, fmt::format("the quotes are not closed; end them by {} on the same line", mark));
    if (at() == '\\')
      token.text += escaped();
    else
      token.text += text_[at_++];
  }
  ++at_;
  return token;
}

/// An expression in a name, which is read when the name is needed.
void Lexer::braces() {
  const std::size_t begin = at_;
  while (at() != '}') {
    if (at_ >= text_.size() || at() == '\n' || (at() == '{' && at_ != begin))
      fail(file_, line_, "a brace in a name is not closed; write an expression between { and }");
    ++at_;
  }
  ++at_;
}

Token Lexer::word() {
  const std::size_t begin = at_;
  for (bool more = true; more;) {
    if (at() == '{')
      braces();
    else if (is_word(at()) && !(at() == '.' && at(1) == '.'))
      ++at_;
    else if ((at() == '+' || at() == '-') && is_digit(at(1)) && ends_in_exponent(text_.substr(begin, at_ - begin)))
      ++at_;
    else
      more = false;
  }
  const std::string_view text = text_.substr(begin, at_ - begin);
  const TokenKind kind = all_digits(text) ? TokenKind::kWhole : is_real(text) ? TokenKind::kReal : TokenKind::kName;
  return {kind, std::string(text), line_};
}

Token Lexer::symbol() {
  const std::string_view rest = text_.substr(at_);
  for (const std::string_view symbol : kLongSymbols)
    if (rest.substr(0, symbol.size()) == symbol) {
      at_ += symbol.size();
      return {TokenKind::kSymbol, std::string(symbol), line_};
    }
  const char c = at();
  if (kSymbols.find(c) == std::string_view::npos || c == '\0') {
    std::size_t bytes = 1; // of one character in UTF-8
    while ((static_cast<unsigned char>(at(bytes)) & 0xc0U) == 0x80U)
      ++bytes;
    fail(file_, line_,
         fmt::format(
             "{} is no part of a statement; put names that are not letters, digits, '_' and '.' in single quotes",
             graph::text::in_quotes(rest.substr(0, bytes), '\'')));
  }
  if (c == '(' || c == '[') ++open_;
  if ((c == ')' || c == ']') && open_ > 0) --open_;
  ++at_;
  return {TokenKind::kSymbol, std::string(1, c), line_};
}

bool is_bare_name(const std::string &name) {
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), is_word)) return false;
  if (name.find("..") != std::string::npos || ends_in_exponent(name) || all_digits(name) || is_real(name)) return false;
  return std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end();
}

std::string in_quotes(std::string_view text, char mark) {
  std::string result(1, mark);
  for (const char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else if (c == mark || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result + mark;
}

} // namespace gradweave::graph::text
