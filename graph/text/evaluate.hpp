// What expressions of a graph's text stand for.
#pragma once

#include "graph/text/syntax.hpp"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace gradweave::graph::text {

struct TensorValue {
  TensorId id = kNone;
};
using Value = std::variant<std::int64_t, double, std::string, std::vector<Number>, TensorValue>;

/// Names where a statement stands: of the file, of one call of a block, of a list's element.
struct Scope {
  std::map<std::string, Value, std::less<>> values = {};
  const Scope *outer = nullptr; ///< in which names are looked up, too
  std::string prefix = {};      ///< of the graph's names for what is made here: "encoder0."
  std::map<std::string, std::string, std::less<>> returned = {}; ///< full names of what a block gives back
};

/// Evaluates, in bounded time. Throws GraphError.
class Evaluator {
public:
  Evaluator(const Graph &graph, const std::string &file) : graph_(graph), file_(file) {}

  Value value(const Expression &expression, const Scope &scope);
  /// `what` for messages: "a dimension".
  std::int64_t whole(const Expression &expression, const Scope &scope, std::string_view what);
  TensorId tensor(const Expression &expression, const Scope &scope, std::string_view what);
  /// With the values of what is in braces.
  std::string name(const Name &name, const Scope &scope, std::size_t line);
  /// Null if neither the scope nor one around it nor the graph has the name.
  const Value *find(const std::string &name, const Scope &scope);
  /// The graph's name of a tensor that was made.
  void made(const std::string &full_name, TensorId id) { tensors_[full_name] = {TensorValue{id}}; }

private:
  Value negated(const Number &number, std::size_t line) const;
  Value binary(const Expression &expression, const Scope &scope);
  Value call(const Expression &expression, const Scope &scope);
  Value list(const Expression &expression, const Scope &scope);
  Value named(const Expression &expression, const Scope &scope);
  Number number(const Expression &expression, const Scope &scope);
  std::int64_t dimension(const Expression &call, const Scope &scope);
  void step(std::size_t line, std::size_t count = 1);

  const Graph &graph_;
  const std::string &file_;
  std::unordered_map<std::string, Value> tensors_;
  std::size_t steps_ = 0;
};

/// First and last of a loop, {1, 0} if there is none. Throws GraphError for one that has too many numbers.
std::pair<std::int64_t, std::int64_t> bounds_of(Evaluator &evaluator, const Loop &loop, const Scope &scope,
                                                const std::string &file, std::size_t line);

/// For messages: "a tensor", "the text \"a\"".
std::string describe(const Value &value);

} // namespace gradweave::graph::text
