// From a graph's text to its statements.
#pragma once

#include "graph/text/syntax.hpp"
#include "graph/text/token.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph::text {

/// Throws GraphError "FILE:LINE: what stands there where what is expected; remedy".
std::vector<Statement> parse(std::string_view text, const std::string &file);

/// A recursive-descent parser with two words in sight. Nesting is bounded, and so is the number of operations in a
/// statement.
class Parser {
public:
  Parser(std::string_view text, const std::string &file, std::size_t first_line = 1, std::size_t depth = 0);

  /// Up to the end of the file, or to `end` where `inside` another statement.
  std::vector<Statement> statements(bool inside);
  Expression expression();
  void expect_end(std::string_view wanted, std::string_view remedy);

private:
  /// Of an expression or statement inside of another.
  class Nested {
  public:
    explicit Nested(Parser &parser);
    ~Nested() { --parser_.depth_; }
    Nested(const Nested &) = delete;
    Nested &operator=(const Nested &) = delete;

  private:
    Parser &parser_;
  };

  Token take();
  [[noreturn]] void unexpected(std::string_view wanted, std::string_view remedy) const;
  bool accept(std::string_view symbol);
  bool accept_word(std::string_view word);
  void expect(std::string_view symbol, std::string_view remedy);
  void end_of_statement(std::string_view remedy);

  Name name(const Token &token);
  Name expect_name(std::string_view wanted, std::string_view remedy);
  std::string plain_name(std::string_view wanted, std::string_view remedy);
  std::string text_in_quotes(std::string_view remedy);

  Expression sum();
  Expression product();
  Expression operand();
  Expression list();
  Expression call(Token function);
  Expression binary(Expression left, Expression right, const Token &sign);
  Loop loop();
  std::vector<Expression> arguments();

  Statement statement();
  bool keyword_statement(Statement &statement);
  void texts(Statement &s);
  void published(Statement &s);
  void let(Statement &s);
  void declaration(Statement &s);
  void marked_declaration(Statement &s);
  void constant(Statement &s);
  void update(Statement &s);
  void names(Statement &s);
  void role(Statement &s);
  void block(Statement &s);
  void for_loop(Statement &s);
  void operation(Statement &s);
  void attributes(Statement &s);
  Target target();
  ElementType type();
  void shape_and_initial(Statement &s);

  const std::string &file_;
  Lexer lexer_;
  Token current_, next_;
  std::size_t depth_;
  std::size_t operations_ = 0; ///< in the statement
};

} // namespace gradweave::graph::text
