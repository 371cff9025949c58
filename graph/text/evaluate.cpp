#include "graph/text/evaluate.hpp"

#include "graph/text/token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradweave::graph::text {
namespace {

constexpr std::size_t kMaxSteps = std::size_t{1} << 23U, kMaxElements = std::size_t{1} << 20U;
constexpr std::int64_t kMaxRounds = std::int64_t{1} << 20U;
constexpr std::size_t kMaxNameBytes = 1000;

double real(const Number &number) {
  if (const auto *whole = std::get_if<std::int64_t>(&number)) return static_cast<double>(*whole);
  return std::get<double>(number);
}

/// 1 or 0.
std::optional<Number> compared(std::string_view sign, const Number &a, const Number &b) {
  const double x = real(a), y = real(b);
  const auto truth = [](bool value) { return Number(std::int64_t{value ? 1 : 0}); };
  if (sign == "<") return truth(x < y);
  if (sign == ">") return truth(x > y);
  if (sign == "<=") return truth(x <= y);
  if (sign == ">=") return truth(x >= y);
  if (sign == "==") return truth(x == y);
  if (sign == "!=") return truth(x != y);
  return std::nullopt;
}

/// Nothing if it overflows, or has no whole result.
std::optional<std::int64_t> of_wholes(char sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (sign) {
  case '+':
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case '-':
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  case '*':
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  default:
    if (b == 0) return std::nullopt;
    if (b == -1) return sign == '/' ? of_wholes('-', 0, a) : 0; // the least number / -1 is no number
    if (sign == '/' && a % b != 0) return std::nullopt;
    return sign == '/' ? a / b : a % b;
  }
}

double of_reals(char sign, double a, double b) {
  switch (sign) {
  case '+':
    return a + b;
  case '-':
    return a - b;
  case '*':
    return a * b;
  case '/':
    return a / b;
  default:
    return std::fmod(a, b);
  }
}

Value to_value(const Number &number) {
  if (const auto *whole = std::get_if<std::int64_t>(&number)) return *whole;
  return std::get<double>(number);
}

std::string text_of(const Number &number) {
  return to_string(std::visit([](auto n) { return Attribute(n); }, number));
}

} // namespace

std::string describe(const Value &value) {
  if (std::holds_alternative<TensorValue>(value)) return "a tensor";
  if (const auto *text = std::get_if<std::string>(&value)) return "the text " + in_quotes(*text, '"');
  if (std::holds_alternative<std::vector<Number>>(value)) return "a list";
  if (const auto *whole = std::get_if<std::int64_t>(&value)) return text_of(*whole);
  return text_of(std::get<double>(value));
}

void Evaluator::step(std::size_t line, std::size_t count) {
  steps_ += count;
  if (steps_ > kMaxSteps)
    fail(file_, line,
         fmt::format("more than {} operations in expressions of a file; make its lists shorter", kMaxSteps));
}

const Value *Evaluator::find(const std::string &name, const Scope &scope) {
  for (const Scope *s = &scope; s != nullptr; s = s->outer)
    if (const auto found = s->values.find(name); found != s->values.end()) return &found->second;
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Value Evaluator::named(const Expression &e, const Scope &scope) {
  const std::string name = this->name(e.name, scope, e.line);
  const Value *found = find(name, scope);
  if (found == nullptr)
    fail(file_, e.line,
         fmt::format("nothing is called {}; declare it above, or correct the name", in_quotes(name, '\'')));
  if (const auto *list = std::get_if<std::vector<Number>>(found)) step(e.line, list->size());
  return *found;
}

std::string Evaluator::name(const Name &name, const Scope &scope, std::size_t line) {
  std::string result = name.pieces.front();
  for (std::size_t i = 0; i < name.values.size(); ++i)
    result += fmt::format("{}{}", whole(name.values[i], scope, "what stands in braces in a name"), name.pieces[i + 1]);
  if (result.size() > kMaxNameBytes)
    fail(file_, line, fmt::format("a name of {} bytes; use at most {}", result.size(), kMaxNameBytes));
  return result;
}

Number Evaluator::number(const Expression &e, const Scope &scope) {
  const Value v = value(e, scope);
  if (const auto *whole = std::get_if<std::int64_t>(&v)) return *whole;
  if (const auto *real = std::get_if<double>(&v)) return *real;
  fail(file_, e.line,
       fmt::format("{} stands where a number is expected; dim(x, -1) is a dimension of a tensor x", describe(v)));
}

std::int64_t Evaluator::whole(const Expression &e, const Scope &scope, std::string_view what) {
  const Value v = value(e, scope);
  if (const auto *whole = std::get_if<std::int64_t>(&v)) return *whole;
  fail(file_, e.line, fmt::format("{} must be a whole number, not {}", what, describe(v)));
}

TensorId Evaluator::tensor(const Expression &e, const Scope &scope, std::string_view what) {
  if (e.kind == Expression::Kind::kLeftOut) return kNone;
  const Value v = value(e, scope);
  if (const auto *tensor = std::get_if<TensorValue>(&v)) return tensor->id;
  fail(file_, e.line,
       fmt::format("{} must be a tensor, not {}; declare numbers that ops read as a constant", what, describe(v)));
}

Value Evaluator::value(const Expression &e, const Scope &scope) {
  step(e.line);
  switch (e.kind) {
  case Expression::Kind::kNumber:
    return to_value(e.number);
  case Expression::Kind::kText:
    step(e.line, e.text.size());
    return e.text;
  case Expression::Kind::kName:
    return named(e, scope);
  case Expression::Kind::kList:
    return list(e, scope);
  case Expression::Kind::kNegate:
    return negated(number(e.parts[0], scope), e.line);
  case Expression::Kind::kBinary:
    return binary(e, scope);
  case Expression::Kind::kCall:
    return call(e, scope);
  case Expression::Kind::kLeftOut:
    break;
  }
  fail(file_, e.line, "'_' stands for an input or output that is left out; give a value here");
}

Value Evaluator::negated(const Number &number, std::size_t line) const {
  if (const auto *real = std::get_if<double>(&number)) return -*real;
  const auto result = of_wholes('-', 0, std::get<std::int64_t>(number));
  if (!result) fail(file_, line, fmt::format("-({}) is out of range; make it smaller", text_of(number)));
  return *result;
}

Value Evaluator::binary(const Expression &e, const Scope &scope) {
  const Number a = number(e.parts[0], scope), b = number(e.parts[1], scope);
  if (const auto truth = compared(e.text, a, b)) return to_value(*truth);
  const auto *x = std::get_if<std::int64_t>(&a);
  const auto *y = std::get_if<std::int64_t>(&b);
  if (x == nullptr || y == nullptr) {
    const double result = of_reals(e.text.front(), real(a), real(b));
    if (std::isnan(result) && !std::isnan(real(a)) && !std::isnan(real(b)))
      fail(file_, e.line, fmt::format("{} {} {} is no number; correct it", text_of(a), e.text, text_of(b)));
    return result;
  }
  if (const auto result = of_wholes(e.text.front(), *x, *y)) return *result;
  const bool divides = e.text == "/" || e.text == "%";
  const char *problem = !divides || *y == -1 ? "does not fit 64 bits; make it smaller, or write 1.0 * for a real number"
                        : *y == 0            ? "divides by zero; give another divisor"
                                  : "is no whole number; write 1.0 * for a real number, or make it divisible";
  fail(file_, e.line, fmt::format("{} {} {} {}", *x, e.text, *y, problem));
}

std::int64_t Evaluator::dimension(const Expression &call, const Scope &scope) {
  const TensorId id = tensor(call.parts[0], scope, "the first argument of dim");
  const std::int64_t axis = whole(call.parts[1], scope, "the second argument of dim");
  if (id == kNone) fail(file_, call.line, "dim of '_', which is no tensor");
  const Shape &shape = graph_.tensors[id].shape;
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < -rank || axis >= rank)
    fail(file_, call.line,
         fmt::format("axis {} is none of '{}', which is {}; give one from {} to {}", axis, graph_.tensors[id].name,
                     shape.text(), -rank, rank - 1));
  return shape[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
}

Value Evaluator::call(const Expression &e, const Scope &scope) {
  const std::string &f = e.text;
  const std::size_t wanted = f == "abs" || f == "sqrt" ? 1 : 2;
  if (f != "dim" && f != "min" && f != "max" && f != "abs" && f != "sqrt")
    fail(file_, e.line,
         fmt::format("there is no function {}; there are dim, min, max, abs and sqrt. Ops and blocks are "
                     "called in statements of their own: y = {}(...)",
                     in_quotes(f, '\''), f));
  if (e.parts.size() != wanted)
    fail(file_, e.line, fmt::format("{} has {} arguments here; give {}", f, e.parts.size(), wanted));
  if (f == "dim") return dimension(e, scope);
  const Number a = number(e.parts[0], scope);
  if (f == "sqrt") {
    if (real(a) < 0) fail(file_, e.line, fmt::format("sqrt({}) is no number; correct it", text_of(a)));
    return std::sqrt(real(a));
  }
  if (f == "abs") return real(a) < 0 ? negated(a, e.line) : to_value(a);
  const Number b = number(e.parts[1], scope);
  return to_value((real(a) < real(b)) == (f == "min") ? a : b);
}

Value Evaluator::list(const Expression &e, const Scope &scope) {
  step(e.line, e.numbers.size());
  std::vector<Number> result = e.numbers;
  if (e.loops.empty()) {
    for (const Expression &part : e.parts)
      result.push_back(number(part, scope));
    return result;
  }
  Scope inner;
  inner.outer = &scope;
  // An odometer: no recursion, so that there may be any number of loops.
  std::vector<std::pair<std::int64_t, std::int64_t>> at;
  for (;;) {
    while (at.size() < e.loops.size()) {
      const Loop &loop = e.loops[at.size()];
      at.push_back(bounds_of(*this, loop, inner, file_, e.line));
      if (at.back().first > at.back().second) break;
      inner.values[loop.variable] = at.back().first;
    }
    if (at.back().first <= at.back().second) {
      if (result.size() >= kMaxElements)
        fail(file_, e.line, fmt::format("a list of more than {} elements; make it shorter", kMaxElements));
      result.push_back(number(e.parts[0], inner));
    }
    while (!at.empty() && at.back().first >= at.back().second)
      at.pop_back();
    if (at.empty()) return result;
    inner.values[e.loops[at.size() - 1].variable] = ++at.back().first;
    step(e.line);
  }
}

std::pair<std::int64_t, std::int64_t> bounds_of(Evaluator &evaluator, const Loop &loop, const Scope &scope,
                                                const std::string &file, std::size_t line) {
  const std::int64_t first = evaluator.whole(loop.bounds[0], scope, "the first number of a loop");
  const std::int64_t last = evaluator.whole(loop.bounds[1], scope, "the last number of a loop");
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  if (first > last) return {1, 0};
  if (first < -kMost || last > kMost || last - first >= kMaxRounds)
    fail(file, line,
         fmt::format("{} in {}..{} has more than {} numbers; make it shorter", loop.variable, first, last, kMaxRounds));
  return {first, last};
}

} // namespace gradweave::graph::text
