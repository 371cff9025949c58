// What Operator::infer sees of an op.
#pragma once

#include "graph/ir/error.hpp"
#include "graph/ir/operator.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

/// "FILE:LINE: op 'NAME' (Operator)", for messages.
std::string describe(const Op &op);

/// An op that is being added or checked.
class Inference {
public:
  Inference(const Graph &graph, const Op &op) : graph_(graph), op_(op), shapes_(op.outputs.size()) {}

  std::size_t inputs() const { return op_.inputs.size(); }
  std::size_t outputs() const { return shapes_.size(); }
  bool has(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != kNone; }
  const Tensor &tensor(std::size_t i) const { return graph_.tensors[op_.inputs[i]]; }
  const Shape &shape(std::size_t i) const { return tensor(i).shape; }
  const Attributes &attributes() const { return op_.attributes; }
  void set(std::size_t output, Shape shape) { shapes_[output] = std::move(shape); }
  const std::vector<Shape> &shapes() const { return shapes_; }

  /// Fails with `message` unless the condition holds.
  void require(bool condition, std::string_view message) const {
    if (!condition) fail(message);
  }
  /// An axis as attributes have it, from -rank to rank - 1; fails if it is none of the input's.
  std::size_t axis(std::int64_t value, std::size_t input = 0) const;
  [[noreturn]] void fail(std::string_view message) const;

private:
  const Graph &graph_;
  const Op &op_;
  std::vector<Shape> shapes_;
};

} // namespace gradweave::graph
