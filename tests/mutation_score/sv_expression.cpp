#include "tests/mutation_score/sv_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradweave::mutation {

namespace {

using Kind = SvExpression::Kind;

/// How tightly a binary operator binds; 0: it is none.
int binding(std::string_view sign) {
  constexpr std::pair<std::string_view, int> kBinding[] = {
      {"||", 1},  {"&&", 2},  {"|", 3}, {"^", 4},  {"~^", 4}, {"^~", 4}, {"&", 5},  {"==", 6}, {"!=", 6},
      {"===", 6}, {"!==", 6}, {"<", 7}, {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"<<<", 8},
      {">>>", 8}, {"+", 9},   {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}, {"**", 11}};
  const auto *found =
      std::find_if(std::begin(kBinding), std::end(kBinding), [&](const auto &entry) { return entry.first == sign; });
  return found == std::end(kBinding) ? 0 : found->second;
}

bool is_unary(std::string_view sign) {
  constexpr std::string_view kUnary[] = {"!", "~", "-", "+", "&", "|", "^", "~&", "~|", "~^"};
  return std::find(std::begin(kUnary), std::end(kUnary), sign) != std::end(kUnary);
}

void list(SvCursor &cursor, std::string_view close, SvExpression &into) {
  while (!cursor.accept(close)) {
    into.children.push_back(sv_expression(cursor));
    if (!cursor.is(close)) cursor.expect(",");
  }
}

/// An index is a child; a range, whose width has to be constant, is passed over.
void select(SvCursor &cursor, SvExpression &of) {
  cursor.expect("[");
  SvExpression index = sv_expression(cursor);
  if (cursor.is("]")) {
    of.children.push_back(std::move(index));
  } else {
    cursor.take();
    sv_expression(cursor);
  }
  cursor.expect("]");
}

/// { a, b } or { count { a, b } }, whose count has to be constant.
SvExpression concatenation(SvCursor &cursor) {
  SvExpression result{Kind::kGroup, cursor.peek().begin, 0, {}, {}};
  cursor.expect("{");
  SvExpression first = sv_expression(cursor);
  if (cursor.accept("{")) {
    list(cursor, "}", result);
    cursor.expect("}");
  } else {
    result.children.push_back(std::move(first));
    if (cursor.accept(","))
      list(cursor, "}", result);
    else
      cursor.expect("}");
  }
  result.end = cursor.last_end();
  return result;
}

SvExpression name(SvCursor &cursor) {
  SvExpression result{Kind::kName, cursor.peek().begin, 0, {}, {}};
  cursor.take();
  while (cursor.is("::") || cursor.is(".")) {
    cursor.take();
    cursor.take();
  }
  if (cursor.accept("(")) {
    result.kind = Kind::kGroup;
    list(cursor, ")", result);
  }
  while (cursor.is("["))
    select(cursor, result);
  result.end = cursor.last_end();
  return result;
}

SvExpression unary(SvCursor &cursor) {
  if (cursor.peek().kind != SvKind::kSign || !is_unary(cursor.peek().text)) {
    SvExpression operand = sv_primary(cursor);
    if (!cursor.is("'")) return operand;
    // A cast: its size or type has to be constant.
    cursor.take();
    SvExpression cast{Kind::kGroup, operand.begin, 0, {}, {}};
    cursor.expect("(");
    cast.children.push_back(sv_expression(cursor));
    cursor.expect(")");
    cast.end = cursor.last_end();
    return cast;
  }
  const SvToken sign = cursor.take();
  SvExpression result{Kind::kUnary, sign.begin, 0, sign.text, {}};
  result.children.push_back(unary(cursor));
  result.end = cursor.last_end();
  return result;
}

SvExpression binary(SvCursor &cursor, int loosest) {
  SvExpression left = unary(cursor);
  for (;;) {
    const int tight = cursor.peek().kind == SvKind::kSign ? binding(cursor.peek().text) : 0;
    if (tight == 0 || tight < loosest) return left;
    const SvToken sign = cursor.take();
    SvExpression result{Kind::kBinary, left.begin, 0, sign.text, {}};
    result.children.push_back(std::move(left));
    result.children.push_back(binary(cursor, tight + 1));
    result.end = cursor.last_end();
    left = std::move(result);
  }
}

} // namespace

const SvToken &SvCursor::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

SvToken SvCursor::take() {
  if (peek().kind == SvKind::kEnd) fail("more");
  return tokens_[position_++];
}

bool SvCursor::accept(std::string_view text) {
  if (!is(text)) return false;
  take();
  return true;
}

void SvCursor::expect(std::string_view text) {
  if (!accept(text)) fail(text);
}

void SvCursor::skip_brackets() {
  int depth = 0;
  do {
    const SvToken token = take();
    if (token.kind != SvKind::kSign) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{") ++depth;
    if (token.text == ")" || token.text == "]" || token.text == "}") --depth;
  } while (depth > 0);
}

void SvCursor::skip_past(std::string_view text) {
  while (!is(text)) {
    if (is("(") || is("[") || is("{"))
      skip_brackets();
    else
      take();
  }
  take();
}

void SvCursor::fail(std::string_view wanted) const {
  const auto line = 1 + std::count(source_.begin(), source_.begin() + static_cast<long>(peek().begin), '\n');
  throw std::runtime_error(fmt::format("line {}: expected {}, found '{}'; the reader of SystemVerilog in "
                                       "tests/mutation_score/sv_* does not know this form",
                                       line, wanted, peek().text));
}

SvExpression sv_primary(SvCursor &cursor) {
  const SvToken &token = cursor.peek();
  if (token.kind == SvKind::kNumber) {
    SvExpression result{Kind::kNumber, token.begin, token.end, {}, {}};
    cursor.take();
    return result;
  }
  if (token.kind == SvKind::kName) return name(cursor);
  if (token.text == "{") return concatenation(cursor);
  if (token.text != "(") cursor.fail("an expression");
  SvExpression result{Kind::kGroup, token.begin, 0, {}, {}};
  cursor.take();
  result.children.push_back(sv_expression(cursor));
  cursor.expect(")");
  result.end = cursor.last_end();
  return result;
}

SvExpression sv_expression(SvCursor &cursor) {
  SvExpression condition = binary(cursor, 1);
  if (!cursor.accept("?")) return condition;
  SvExpression result{Kind::kTernary, condition.begin, 0, {}, {}};
  result.children.push_back(std::move(condition));
  result.children.push_back(sv_expression(cursor));
  cursor.expect(":");
  result.children.push_back(sv_expression(cursor));
  result.end = cursor.last_end();
  return result;
}

} // namespace gradweave::mutation
