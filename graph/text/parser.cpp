// Statements.
#include "graph/text/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::graph::text {
namespace {

bool begins_operation(const Token &behind) {
  return behind.symbol("=") || behind.symbol(",") || behind.symbol(":") || behind.symbol("~");
}

} // namespace

Parser::Parser(std::string_view text, const std::string &file, std::size_t first_line, std::size_t depth)
    : file_(file), lexer_(text, file, first_line), depth_(depth) {
  current_ = lexer_.next();
  next_ = lexer_.next();
}

Token Parser::take() {
  Token taken = std::move(current_);
  current_ = std::move(next_);
  next_ = lexer_.next();
  return taken;
}

void Parser::unexpected(std::string_view wanted, std::string_view remedy) const {
  fail(file_, current_.line, fmt::format("{} stands where {} is expected; {}", describe(current_), wanted, remedy));
}

bool Parser::accept(std::string_view symbol) {
  if (!current_.symbol(symbol)) return false;
  take();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!current_.word(word)) return false;
  take();
  return true;
}

void Parser::expect(std::string_view symbol, std::string_view remedy) {
  if (!accept(symbol)) unexpected(fmt::format("'{}'", symbol), remedy);
}

void Parser::expect_end(std::string_view wanted, std::string_view remedy) {
  if (current_.kind != TokenKind::kEnd) unexpected(wanted, remedy);
}

void Parser::end_of_statement(std::string_view remedy) {
  if (current_.kind == TokenKind::kEnd) return;
  if (current_.kind != TokenKind::kNewline) unexpected("the end of the line", remedy);
  take();
}

Name Parser::expect_name(std::string_view wanted, std::string_view remedy) {
  if (current_.kind != TokenKind::kName && current_.kind != TokenKind::kQuoted) unexpected(wanted, remedy);
  return name(take());
}

std::string Parser::plain_name(std::string_view wanted, std::string_view remedy) {
  if (current_.kind != TokenKind::kName || !is_bare_name(current_.text)) unexpected(wanted, remedy);
  return take().text;
}

std::string Parser::text_in_quotes(std::string_view remedy) {
  if (current_.kind != TokenKind::kText) unexpected("a text in double quotes", remedy);
  return take().text;
}

std::vector<Statement> Parser::statements(bool inside) {
  std::vector<Statement> result;
  for (;;) {
    while (current_.kind == TokenKind::kNewline)
      take();
    if (current_.kind == TokenKind::kEnd) {
      if (inside) unexpected("'end'", "close each block and each for by end");
      return result;
    }
    if (current_.word("end") && !begins_operation(next_)) {
      if (!inside) unexpected("a statement", "remove the end: no block and no for is open");
      take();
      return result;
    }
    result.push_back(statement());
  }
}

Statement Parser::statement() {
  operations_ = 0;
  Statement s;
  s.line = current_.line;
  if (!keyword_statement(s)) operation(s);
  return s;
}

bool Parser::keyword_statement(Statement &s) {
  using Kind = Statement::Kind;
  struct Keyword {
    std::string_view word;
    Kind kind;
    void (Parser::*rest)(Statement &);
  };
  static constexpr std::array<Keyword, 19> kKeywords = {{
      {"graph", Kind::kGraph, &Parser::texts},
      {"description", Kind::kDescription, &Parser::texts},
      {"source", Kind::kSource, &Parser::texts},
      {"published", Kind::kPublished, &Parser::published},
      {"let", Kind::kLet, &Parser::let},
      {"input", Kind::kInput, &Parser::declaration},
      {"parameter", Kind::kParameter, &Parser::declaration},
      {"head", Kind::kParameter, &Parser::marked_declaration},
      {"frozen", Kind::kParameter, &Parser::marked_declaration},
      {"state", Kind::kState, &Parser::declaration},
      {"constant", Kind::kConstant, &Parser::constant},
      {"update", Kind::kUpdate, &Parser::update},
      {"result", Kind::kResult, &Parser::names},
      {"loss", Kind::kLoss, &Parser::names},
      {"boundary", Kind::kBoundary, &Parser::names},
      {"return", Kind::kReturn, &Parser::names},
      {"role", Kind::kRole, &Parser::role},
      {"block", Kind::kBlock, &Parser::block},
      {"for", Kind::kFor, &Parser::for_loop},
  }};
  if (begins_operation(next_)) return false;
  const auto *const keyword =
      std::find_if(kKeywords.begin(), kKeywords.end(), [&](const Keyword &k) { return current_.word(k.word); });
  if (keyword == kKeywords.end()) return false;
  s.kind = keyword->kind;
  s.text = take().text;
  (this->*keyword->rest)(s);
  return true;
}

void Parser::texts(Statement &s) {
  s.text = text_in_quotes("write graph \"name\", description \"...\", source \"...\"");
  end_of_statement("one text is enough");
}

void Parser::published(Statement &s) {
  if (current_.kind != TokenKind::kWhole) unexpected("a whole number", "write how many parameters the model has");
  s.values.push_back(expression());
  end_of_statement("write published and a number");
}

void Parser::let(Statement &s) {
  s.text = plain_name("a name for the number", "write let batch = 4");
  expect("=", "write let batch = 4");
  s.values.push_back(expression());
  end_of_statement("write one let a line");
}

ElementType Parser::type() {
  for (const ElementType type : {ElementType::kFp32, ElementType::kBf16, ElementType::kInt32})
    if (accept_word(to_string(type))) return type;
  unexpected("a type", "write fp32, bf16 or int32");
}

void Parser::shape_and_initial(Statement &s) {
  Expression shape = current_.symbol("[") ? list() : Expression{};
  if (shape.kind != Expression::Kind::kList || !shape.loops.empty())
    unexpected("a shape", "write its dimensions in brackets, as [batch, 784]; [] is a scalar");
  for (const Number &number : shape.numbers) {
    Expression dimension;
    dimension.line = shape.line;
    dimension.number = number;
    s.shape.push_back(std::move(dimension));
  }
  for (Expression &part : shape.parts)
    s.shape.push_back(std::move(part));
  if (s.kind == Statement::Kind::kInput || s.kind == Statement::Kind::kConstant || !accept_word("init")) return;
  s.text = text_in_quotes("write how it begins, as init \"zeros\" or init \"normal:0.02\"");
}

void Parser::declaration(Statement &s) {
  s.text.clear();
  s.targets.emplace_back().name =
      expect_name("the tensor's name", "write input x bf16 [batch, 784], or parameter w [784, 10]");
  if (s.kind == Statement::Kind::kInput) s.type = type();
  shape_and_initial(s);
  end_of_statement("a declaration ends with its shape, or with init \"...\"");
}

void Parser::marked_declaration(Statement &s) {
  s.head = s.text == "head";
  s.frozen = s.text == "frozen";
  if (!s.head && accept_word("head")) s.head = true;
  if (!s.frozen && accept_word("frozen")) s.frozen = true;
  if (!accept_word("parameter")) unexpected("'parameter'", "write head parameter w [312, 2]");
  declaration(s);
}

void Parser::constant(Statement &s) {
  s.text.clear();
  s.targets.emplace_back().name = expect_name("the constant's name", "write constant one fp32 [] = 1.0");
  s.type = type();
  shape_and_initial(s);
  expect("=", "write a number for all elements, or a list of all");
  s.values.push_back(expression());
  end_of_statement("a constant ends with its values");
}

void Parser::update(Statement &s) {
  s.targets.emplace_back().name = expect_name("what is updated", "write update w = w.next");
  expect("=", "write update w = w.next");
  s.targets.emplace_back().name = expect_name("its next value", "write update w = w.next");
  end_of_statement("write one update a line");
}

void Parser::names(Statement &s) {
  do
    s.targets.emplace_back().name = expect_name("a tensor's name", "write names with commas between them");
  while (accept(","));
  end_of_statement("write names with commas between them");
}

void Parser::role(Statement &s) {
  s.text = plain_name("activation, gradient or updated", "write what the ops below compute");
  end_of_statement("write role gradient");
}

void Parser::block(Statement &s) {
  constexpr std::string_view kForm = "write block linear(x, out), its statements, return y, and end";
  const Nested nested(*this);
  s.text = plain_name("the block's name", kForm);
  expect("(", kForm);
  while (!current_.symbol(")")) {
    const std::string parameter = plain_name("the name of what it is given", kForm);
    if (std::find(s.parameters.begin(), s.parameters.end(), parameter) != s.parameters.end())
      fail(file_, s.line, fmt::format("block '{}' has two parameters '{}'; rename one", s.text, parameter));
    s.parameters.push_back(parameter);
    if (!current_.symbol(")")) expect(",", kForm);
  }
  take();
  end_of_statement(kForm);
  s.body = statements(true);
  end_of_statement("end stands alone");
}

void Parser::for_loop(Statement &s) {
  const Nested nested(*this);
  s.loop = loop();
  end_of_statement("write for i in 0..11, its statements on lines of their own, and end");
  s.body = statements(true);
  end_of_statement("end stands alone");
}

Target Parser::target() {
  Target result;
  const bool left_out = accept_word("_");
  if (!left_out)
    result.name = expect_name("a statement", "write a declaration as input x bf16 [4, 8], or y = Operator(x)");
  if (left_out || (!current_.symbol(":") && !current_.symbol("~"))) return result;
  result.asked = take().text == ":";
  result.type = type();
  return result;
}

void Parser::operation(Statement &s) {
  constexpr std::string_view kForm = "write y = Operator(x, w) attribute=3";
  s.kind = Statement::Kind::kCall;
  do
    s.targets.push_back(target());
  while (accept(","));
  expect("=", kForm);
  s.text = plain_name("an operator or a block", kForm);
  s.values = arguments();
  attributes(s);
  end_of_statement("behind the inputs stand attributes as axis=1, then as NAME or recompute");
}

void Parser::attributes(Statement &s) {
  while (current_.kind == TokenKind::kName && next_.symbol("=")) {
    const std::string attribute = take().text;
    take();
    if (std::any_of(s.attributes.begin(), s.attributes.end(), [&](const auto &a) { return a.first == attribute; }))
      fail(file_, s.line, fmt::format("attribute '{}' is given twice; remove one", attribute));
    s.attributes.emplace_back(attribute, expression());
  }
  if (accept_word("as")) {
    if (current_.kind == TokenKind::kWhole)
      s.instance.pieces = {take().text};
    else
      s.instance = expect_name("a name", "write y = linear(x, 10) as fc1");
  }
  s.recompute = accept_word("recompute");
}

std::vector<Statement> parse(std::string_view text, const std::string &file) {
  return Parser(text, file).statements(false);
}

} // namespace gradweave::graph::text
