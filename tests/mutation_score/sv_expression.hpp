// Expressions of SystemVerilog as trees over the source's characters.
#pragma once

#include "tests/mutation_score/sv_tokens.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace gradweave::mutation {

struct SvExpression {
  enum class Kind {
    kName,    ///< children: the indices of its selects that are plain, not ranges
    kNumber,  ///<
    kUnary,   ///< child: the operand
    kBinary,  ///< children: both operands
    kTernary, ///< children: condition, both values
    kGroup,   ///< parentheses, casts, concatenations, calls; children: what is inside
  };
  Kind kind = Kind::kName;
  std::size_t begin = 0, end = 0;
  std::string_view sign; ///< of unary and binary: the operator
  std::vector<SvExpression> children;
};

/// A position in the tokens of a file.
class SvCursor {
public:
  /// Both have to outlive the cursor.
  SvCursor(const std::string &source, const std::vector<SvToken> &tokens) : source_(source), tokens_(tokens) {}

  const SvToken &peek(std::size_t ahead = 0) const;
  bool is(std::string_view text, std::size_t ahead = 0) const { return peek(ahead).text == text; }
  SvToken take();
  /// Takes the token if it is `text`.
  bool accept(std::string_view text);
  /// Takes the token; throws std::runtime_error naming the line if it is not `text`.
  void expect(std::string_view text);
  /// From "(", "[" or "{" to behind its closing counterpart.
  void skip_brackets();
  /// Behind the next `text` outside of brackets.
  void skip_past(std::string_view text);
  std::size_t last_end() const { return position_ == 0 ? 0 : tokens_[position_ - 1].end; }
  [[noreturn]] void fail(std::string_view wanted) const;

private:
  const std::string &source_;
  const std::vector<SvToken> &tokens_;
  std::size_t position_ = 0;
};

/// Reads one expression; the cursor ends behind it.
SvExpression sv_expression(SvCursor &cursor);
/// Reads what may stand left of an assignment, or a call of a task.
SvExpression sv_primary(SvCursor &cursor);

} // namespace gradweave::mutation
