// A graph's text as its statements.
#pragma once

#include "graph/ir/graph.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gradweave::graph::text {

using Number = std::variant<std::int64_t, double>;

struct Expression;

/// A name with expressions in it: pieces[0] values[0] pieces[1] ...; there is one piece more than values.
struct Name {
  std::vector<std::string> pieces = {};
  std::vector<Expression> values = {};

  bool empty() const { return pieces.empty(); }
  /// Without expressions; only of such.
  const std::string &plain() const { return pieces.front(); }
};

/// `for variable in first..last`, both included.
struct Loop {
  std::string variable;
  std::vector<Expression> bounds = {}; ///< first and last
};

struct Expression {
  enum class Kind : std::uint8_t { kNumber, kText, kName, kList, kNegate, kBinary, kCall, kLeftOut };
  Kind kind = Kind::kNumber;
  std::size_t line = 0;
  Number number = std::int64_t{0};
  std::string text = {}; ///< of a text; the sign of an operation; the name of a function
  Name name = {};
  std::vector<Expression> parts = {}; ///< operands, arguments, elements
  std::vector<Number> numbers = {};   ///< the elements of a list of nothing but numbers
  std::vector<Loop> loops = {};       ///< of a list: its only element, for each value of these
};

/// What a statement computes.
struct Target {
  Name name = {}; ///< empty: left out
  std::optional<ElementType> type = {};
  bool asked = false; ///< the type is fixed
};

struct Statement {
  enum class Kind : std::uint8_t {
    kGraph,
    kDescription,
    kSource,
    kPublished,
    kLet,
    kInput,
    kParameter,
    kState,
    kConstant,
    kCall, ///< of an operator or a block
    kUpdate,
    kResult,
    kLoss,
    kBoundary,
    kRole,
    kBlock,
    kFor,
    kReturn,
  };
  Kind kind = Kind::kCall;
  std::size_t line = 0;
  std::string text = {};            ///< texts; the name of an operator or block, of a variable, of a role
  std::vector<Target> targets = {}; ///< what is declared, computed, or named as a result
  ElementType type = ElementType::kFp32;
  std::vector<Expression> shape = {};
  std::vector<Expression> values = {}; ///< arguments; the value of a variable or constant
  std::vector<std::pair<std::string, Expression>> attributes = {};
  Name instance = {}; ///< behind `as`; empty: none
  bool head = false, frozen = false, recompute = false;
  Loop loop = {};
  std::vector<std::string> parameters = {}; ///< of a block
  std::vector<Statement> body = {};         ///< of a block or loop
};

} // namespace gradweave::graph::text
