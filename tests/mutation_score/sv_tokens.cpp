#include "tests/mutation_score/sv_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace gradweave::mutation {

namespace {

// Longest first, so that the first match is the right one.
constexpr std::string_view kSigns[] = {"<<<=", ">>>=", "===", "!==", "<<<", ">>>", "==?", "<<=", ">>=",
                                       "::",   "&&",   "||",  "==",  "!=",  "<=",  ">=",  "<<",  ">>",
                                       "+:",   "-:",   "+=",  "-=",  "*=",  "&=",  "|=",  "^=",  "++",
                                       "--",   "~^",   "^~",  "~&",  "~|",  "**",  "->",  "@*"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
public:
  explicit Lexer(const std::string &source) : source_(source) {}

  std::vector<SvToken> run() {
    while (skip_blank()) {
      const std::size_t begin = at_;
      const SvKind kind = step();
      tokens_.push_back({kind, std::string_view(source_).substr(begin, at_ - begin), begin, at_});
    }
    tokens_.push_back({SvKind::kEnd, {}, source_.size(), source_.size()});
    return std::move(tokens_);
  }

private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  bool starts(std::string_view text) const { return source_.compare(at_, text.size(), text) == 0; }
  void skip_to(std::string_view mark, std::size_t behind) {
    const std::size_t found = source_.find(mark, at_);
    at_ = found == std::string::npos ? source_.size() : found + behind;
  }

  /// Comments, blanks, directives (to the end of their line), (* attributes *). False at the end.
  bool skip_blank() {
    while (at_ < source_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek())) != 0)
        ++at_;
      else if (starts("//") || peek() == '`')
        skip_to("\n", 1);
      else if (starts("/*"))
        skip_to("*/", 2);
      else if (starts("(*") && peek(2) != ')')
        skip_to("*)", 2);
      else
        return true;
    }
    return false;
  }

  void words() {
    while (is_word(peek()))
      ++at_;
  }

  SvKind step() {
    if (peek() == '"') {
      skip_to("\"", 1);
      skip_to("\"", 1);
      return SvKind::kText;
    }
    if (is_digit(peek())) {
      while (is_digit(peek()) || peek() == '_')
        ++at_;
      if (peek() == '\'' && is_word(peek(1))) {
        ++at_;
        words();
      }
      return SvKind::kNumber;
    }
    if (peek() == '\'' && is_word(peek(1))) {
      ++at_;
      words();
      return SvKind::kNumber;
    }
    if (is_word(peek())) {
      words();
      return SvKind::kName;
    }
    const auto *sign =
        std::find_if(std::begin(kSigns), std::end(kSigns), [&](std::string_view s) { return starts(s); });
    if (sign != std::end(kSigns)) {
      at_ += sign->size();
      return SvKind::kSign;
    }
    if (std::string_view("()[]{};:,.#@=+-*/%&|^~!<>?'").find(peek()) == std::string_view::npos)
      throw std::runtime_error(
          fmt::format("line {}: '{}' starts no token of SystemVerilog",
                      1 + std::count(source_.begin(), source_.begin() + static_cast<long>(at_), '\n'), peek()));
    ++at_;
    return SvKind::kSign;
  }

  const std::string &source_;
  std::size_t at_ = 0;
  std::vector<SvToken> tokens_;
};

} // namespace

std::vector<SvToken> sv_tokens(const std::string &source) { return Lexer(source).run(); }

} // namespace gradweave::mutation
