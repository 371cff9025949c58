#include "tests/mutation_score/sv_faults.hpp"

#include <fmt/format.h>

#include <map>

namespace gradweave::mutation {

namespace {

using Kind = SvExpression::Kind;

/// What each operator is mistaken for.
const std::map<std::string_view, std::vector<std::string_view>> &mistaken_sv() {
  static const std::map<std::string_view, std::vector<std::string_view>> kTable = {
      {"+", {"-"}},       {"-", {"+"}},       {"*", {"+"}},       {"/", {"*"}},       {"==", {"!="}}, {"!=", {"=="}},
      {"<", {"<=", ">"}}, {"<=", {"<", ">"}}, {">", {">=", "<"}}, {">=", {">", "<"}}, {"&&", {"||"}}, {"||", {"&&"}},
      {"&", {"|"}},       {"|", {"&"}},       {"^", {"|"}},       {"<<", {">>"}},     {">>", {"<<"}}};
  return kTable;
}

bool is_logic(std::string_view sign) { return sign == "&&" || sign == "||" || sign == "&" || sign == "|"; }
bool is_arithmetic(std::string_view sign) { return sign == "+" || sign == "-" || sign == "*" || sign == "<<"; }

} // namespace

void SvFaults::add(const SvExpression &expression, const std::string &kind, const std::string &text) {
  add_fault(places_, expression.begin, expression.end, scope, {kind, text});
}

void SvFaults::in_expression(const SvExpression &expression, bool indices) {
  switch (expression.kind) {
  case Kind::kName:
    if (!indices) return;
    break;
  case Kind::kNumber:
    return number(expression);
  case Kind::kUnary:
    unary(expression);
    break;
  case Kind::kBinary:
    binary(expression);
    break;
  case Kind::kTernary:
    in_condition(expression.children[0]);
    in_expression(expression.children[1], indices);
    in_expression(expression.children[2], indices);
    return;
  case Kind::kGroup:
    break;
  }
  for (const SvExpression &child : expression.children)
    in_expression(child, indices);
}

void SvFaults::in_condition(const SvExpression &condition) {
  add(condition, "condition", fmt::format("!({})", text(condition)));
  add(condition, "condition", "1'b1");
  add(condition, "condition", "1'b0");
  in_expression(condition);
}

void SvFaults::in_value(const SvExpression &value) {
  // The operand of a shift has the width of what is assigned, so this cuts exactly its highest or lowest bit.
  const bool computed = value.kind == Kind::kBinary && is_arithmetic(value.sign);
  if (value.kind != Kind::kNumber)
    add(value, "width", fmt::format(computed ? "((({}) << 1) >> 1)" : "((({}) >> 1) << 1)", text(value)));
  in_expression(value);
}

void SvFaults::number(const SvExpression &number) {
  const std::string digits = text(number);
  const std::size_t tick = digits.find('\'');
  if (tick == std::string::npos) { // signed, as wide as it needs to be
    add(number, "constant", fmt::format("({} + 1)", digits));
    add(number, "constant", fmt::format("({} - 1)", digits));
  } else if (tick == 0) { // '0 or '1
    add(number, "constant", digits == "'0" ? "'1" : "'0");
  } else if (digits.substr(0, tick) == "1") {
    add(number, "constant", fmt::format("(~{})", digits));
  } else {
    const std::string one = digits.substr(0, tick) + "'d1";
    add(number, "constant", fmt::format("({} + {})", digits, one));
    add(number, "constant", fmt::format("({} - {})", digits, one));
  }
}

void SvFaults::unary(const SvExpression &expression) {
  const std::string operand = text(expression.children[0]);
  if (expression.sign == "!" || expression.sign == "~" || expression.sign == "-") add(expression, "operator", operand);
  if (expression.sign == "&") add(expression, "operator", fmt::format("(|{})", operand));
  if (expression.sign == "|") add(expression, "operator", fmt::format("(&{})", operand));
}

/// As it has to be written beside another operator.
std::string SvFaults::operand(const SvExpression &expression) const {
  const bool loose = expression.kind == Kind::kBinary || expression.kind == Kind::kTernary;
  return loose ? "(" + text(expression) + ")" : text(expression);
}

void SvFaults::binary(const SvExpression &expression) {
  const std::string left = operand(expression.children[0]), right = operand(expression.children[1]);
  if (const auto found = mistaken_sv().find(expression.sign); found != mistaken_sv().end())
    for (const std::string_view sign : found->second)
      add(expression, "operator", fmt::format("({} {} {})", left, sign, right));
  if (!is_logic(expression.sign)) return;
  add(expression, "condition", left);
  add(expression, "condition", right);
}

} // namespace gradweave::mutation
