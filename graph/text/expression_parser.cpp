// Expressions and names.
#include "graph/text/parser.hpp"

#include <fmt/format.h>

#include <charconv>

namespace gradweave::graph::text {
namespace {

constexpr std::size_t kMaxDepth = 64, kMaxOperations = 1000;

constexpr std::string_view kExpressionRemedy =
    "write a number, a name, a function as dim(x, -1), or a list as [1, 2]; for more, parentheses and + - * / %";

/// inf and nan are real numbers, too.
bool is_number(const Token &token) {
  return token.kind == TokenKind::kWhole || token.kind == TokenKind::kReal || token.word("inf") || token.word("nan");
}

Number number_of(const Token &token, bool negative, const std::string &file) {
  std::string digits = negative ? "-" : "";
  for (const char c : token.text)
    if (c != '_') digits += c;
  const char *first = digits.data(), *last = digits.data() + digits.size();
  std::int64_t whole = 0;
  double real = 0;
  const std::from_chars_result result =
      token.kind == TokenKind::kWhole ? std::from_chars(first, last, whole) : std::from_chars(first, last, real);
  if (result.ec != std::errc{} || result.ptr != last)
    fail(file, token.line, fmt::format("{} is out of range; give a number that 64 bits hold", describe(token)));
  return token.kind == TokenKind::kWhole ? Number(whole) : Number(real);
}

} // namespace

Parser::Nested::Nested(Parser &parser) : parser_(parser) {
  if (++parser_.depth_ > kMaxDepth) {
    --parser_.depth_;
    fail(parser_.file_, parser_.current_.line,
         fmt::format("{} is nested more than {} deep; name a part and use the name", describe(parser_.current_),
                     kMaxDepth));
  }
}

/// A name's words and the expressions in its braces.
Name Parser::name(const Token &token) {
  if (token.kind == TokenKind::kQuoted) return {{token.text}, {}};
  Name result;
  std::string_view rest = token.text;
  for (;;) {
    const std::size_t open = rest.find('{');
    result.pieces.emplace_back(rest.substr(0, open));
    if (open == std::string_view::npos) return result;
    const std::size_t close = rest.find('}', open);
    const Nested nested(*this);
    Parser inner(rest.substr(open + 1, close - open - 1), file_, token.line, depth_);
    result.values.push_back(inner.expression());
    inner.expect_end("the closing brace", "write one expression in the braces, as h{i + 1}");
    rest.remove_prefix(close + 1);
  }
}

Expression Parser::binary(Expression left, Expression right, const Token &sign) {
  if (++operations_ > kMaxOperations)
    fail(file_, sign.line, fmt::format("more than {} operations in a statement; name a part of it", kMaxOperations));
  Expression result;
  result.kind = Expression::Kind::kBinary;
  result.line = sign.line;
  result.text = sign.text;
  result.parts.push_back(std::move(left));
  result.parts.push_back(std::move(right));
  return result;
}

Expression Parser::expression() {
  const Nested nested(*this);
  Expression left = sum();
  while (current_.symbol("<") || current_.symbol(">") || current_.symbol("<=") || current_.symbol(">=") ||
         current_.symbol("==") || current_.symbol("!=")) {
    const Token sign = take();
    left = binary(std::move(left), sum(), sign);
  }
  return left;
}

Expression Parser::sum() {
  Expression left = product();
  while (current_.symbol("+") || current_.symbol("-")) {
    const Token sign = take();
    left = binary(std::move(left), product(), sign);
  }
  return left;
}

Expression Parser::product() {
  Expression left = operand();
  while (current_.symbol("*") || current_.symbol("/") || current_.symbol("%")) {
    const Token sign = take();
    left = binary(std::move(left), operand(), sign);
  }
  return left;
}

Expression Parser::operand() {
  const Nested nested(*this);
  Expression result;
  result.line = current_.line;
  const bool negative = accept("-");
  if (is_number(current_)) {
    result.number = number_of(take(), negative, file_);
    return result;
  }
  if (negative) {
    result.kind = Expression::Kind::kNegate;
    result.parts.push_back(operand());
    return result;
  }
  if (accept("(")) {
    result = expression();
    expect(")", "close the parentheses");
    return result;
  }
  if (current_.symbol("[")) return list();
  if (current_.kind == TokenKind::kText) {
    result.kind = Expression::Kind::kText;
    result.text = take().text;
  } else if (current_.word("_")) {
    result.kind = Expression::Kind::kLeftOut;
    take();
  } else if (current_.kind == TokenKind::kName || current_.kind == TokenKind::kQuoted) {
    const Token word = take();
    if (word.kind == TokenKind::kName && current_.symbol("(")) return call(word);
    result.kind = Expression::Kind::kName;
    result.name = name(word);
  } else {
    unexpected("a value", kExpressionRemedy);
  }
  return result;
}

Expression Parser::call(Token function) {
  Expression result;
  result.kind = Expression::Kind::kCall;
  result.line = function.line;
  result.text = std::move(function.text);
  result.parts = arguments();
  return result;
}

std::vector<Expression> Parser::arguments() {
  std::vector<Expression> result;
  expect("(", "write what it is given in parentheses");
  while (!current_.symbol(")")) {
    result.push_back(expression());
    if (!current_.symbol(")")) expect(",", "put a comma between arguments, and ) behind the last one");
  }
  take();
  return result;
}

Expression Parser::list() {
  Expression result;
  result.kind = Expression::Kind::kList;
  result.line = current_.line;
  expect("[", "");
  while (!current_.symbol("]")) {
    Expression element = expression();
    if (element.kind == Expression::Kind::kNumber && result.parts.empty()) {
      result.numbers.push_back(element.number);
    } else {
      // From here on as expressions, with those before.
      for (const Number &number : result.numbers)
        result.parts.emplace_back().number = number;
      result.numbers.clear();
      result.parts.push_back(std::move(element));
    }
    while (accept_word("for"))
      result.loops.push_back(loop());
    if (!result.loops.empty() || !current_.symbol("]"))
      expect(result.loops.empty() ? "," : "]",
             "write [1, 2, 3], or [2 * i for i in 0..9] with one element for each value");
    if (!result.loops.empty()) {
      if (result.parts.empty()) result.parts.emplace_back().number = result.numbers.front();
      result.numbers.clear();
      if (result.parts.size() > 1) fail(file_, result.line, "a list with 'for' has one element; remove the others");
      return result;
    }
  }
  take();
  return result;
}

Loop Parser::loop() {
  Loop result;
  result.variable = plain_name("a name for the number", "write for i in 0..11");
  if (!accept_word("in")) unexpected("'in'", "write for i in 0..11");
  result.bounds.push_back(expression());
  expect("..", "write for i in 0..11: both ends belong to it");
  result.bounds.push_back(expression());
  return result;
}

} // namespace gradweave::graph::text
