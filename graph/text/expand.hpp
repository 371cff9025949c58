// From statements to a graph.
#pragma once

#include "graph/build/builder.hpp"
#include "graph/text/evaluate.hpp"
#include "graph/text/read.hpp"
#include "graph/text/syntax.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::graph::text {

/// Runs the statements of a file: blocks once for each call, loops once for each number. Throws GraphError.
class Expander {
public:
  Expander(Graph &graph, const std::string &file, const OperatorSet &operators, const Variables &variables);

  void run(const std::vector<Statement> &statements);

private:
  using Statements = std::vector<Statement>;

  void all(const Statements &statements, Scope &scope);
  void one(const Statement &s, Scope &scope);
  void header(const Statement &s);
  void let(const Statement &s, Scope &scope);
  void declare(const Statement &s, Scope &scope);
  void constant(const Statement &s, Scope &scope, const std::string &local);
  void for_loop(const Statement &s, Scope &scope);
  void call(const Statement &s, Scope &scope);
  void operation(const Statement &s, Scope &scope);
  void block(const Statement &s, const Statement &block, Scope &scope);
  void name_tensors(const Statement &s, Scope &scope);
  void role(const Statement &s);

  Shape shape(const Statement &s, Scope &scope);
  Attribute attribute(const Expression &expression, Scope &scope);
  TensorId tensor_named(const Statement &s, std::size_t target, Scope &scope);
  /// Says also whether a statement below makes what is missing.
  void check_known(const Expression &expression, Scope &scope);
  void define(const Statement &s, const std::string &local, Value value, Scope &scope);
  static std::string full_name(const std::string &local, const Scope &scope);
  [[noreturn]] void fail_at(const Statement &s, std::string_view message) const;

  Graph &graph_;
  const std::string &file_;
  const Variables &variables_;
  Builder build_;
  Evaluator evaluate_;
  std::map<std::string, const Statement *, std::less<>> blocks_;
  std::map<std::string, bool, std::less<>> overridden_; ///< which variables the file has
  std::vector<const Statements *> around_;              ///< statements that are being run, outermost first
  std::size_t executed_ = 0;
  std::size_t depth_ = 0;
  bool recompute_ = false;
};

} // namespace gradweave::graph::text
