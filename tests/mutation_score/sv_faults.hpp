// The faults of expressions in SystemVerilog.
#pragma once

#include "tests/mutation_score/place.hpp"
#include "tests/mutation_score/sv_expression.hpp"

#include <string>
#include <vector>

namespace gradweave::mutation {

/// Adds faults of one file to `places`; `source` and `places` have to outlive it.
class SvFaults {
public:
  SvFaults(const std::string &source, std::vector<Place> &places) : source_(source), places_(places) {}

  std::string scope; ///< of what is added

  /// Faults in an expression whose value is used. With `indices` false, not in what selects bits or words.
  void in_expression(const SvExpression &expression, bool indices = true);
  /// A condition: the faults in it, and that it is inverted, always or never holds.
  void in_condition(const SvExpression &condition);
  /// The right side of an assignment: the faults in it, and that a bit is lost, the highest of what is computed, the
  /// lowest of what is copied.
  void in_value(const SvExpression &value);
  /// `text` instead of the expression.
  void add(const SvExpression &expression, const std::string &kind, const std::string &text);
  std::string text(const SvExpression &expression) const {
    return source_.substr(expression.begin, expression.end - expression.begin);
  }

private:
  std::string operand(const SvExpression &expression) const;
  void number(const SvExpression &number);
  void unary(const SvExpression &expression);
  void binary(const SvExpression &expression);

  const std::string &source_;
  std::vector<Place> &places_;
};

} // namespace gradweave::mutation
