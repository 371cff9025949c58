// The words of a graph's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradweave::graph::text {

enum class TokenKind : std::uint8_t {
  kEnd,
  kNewline,
  kName,   ///< letters, digits, '_', '.', and expressions in braces: fc1.weight, 3a.conv, encoder{i + 1}.query
  kQuoted, ///< a name in single quotes, any characters, no expressions
  kWhole,  ///< a whole number
  kReal,   ///< a number with a point or an exponent
  kText,   ///< in double quotes
  kSymbol, ///< one of ( ) [ ] , = : ~ ! + - * / % < > .. == != <= >=
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text; ///< of texts and quoted names what they stand for
  std::size_t line = 0;

  bool is(TokenKind k, std::string_view t) const { return kind == k && text == t; }
  bool symbol(std::string_view t) const { return is(TokenKind::kSymbol, t); }
  bool word(std::string_view t) const { return is(TokenKind::kName, t); }
};

/// For messages: "'weight'", "the end of the line".
std::string describe(const Token &token);

/// Throws GraphError "FILE:LINE: message"; line 0 leaves the line out.
[[noreturn]] void fail(const std::string &file, std::size_t line, std::string_view message);

/// Reads a text word by word. Line ends inside of ( ) and [ ] are none, and # begins a comment.
class Lexer {
public:
  Lexer(std::string_view text, const std::string &file, std::size_t first_line = 1)
      : text_(text), file_(file), line_(first_line) {}
  /// Throws GraphError for what is no word. Behind the last one there are kEnd for ever.
  Token next();

private:
  char at(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks();
  Token quoted(char mark);
  char escaped();
  Token word();
  Token symbol();
  void braces();

  std::string_view text_;
  const std::string &file_;
  std::size_t line_;
  std::size_t at_ = 0;
  std::size_t open_ = 0; ///< parentheses and brackets
};

/// Whether a name can be written as it is, without quotes.
bool is_bare_name(const std::string &name);
/// Between two `mark`s, with escapes where they are needed.
std::string in_quotes(std::string_view text, char mark);

} // namespace gradweave::graph::text
