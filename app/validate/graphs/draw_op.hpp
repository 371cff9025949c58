// One operator of a random graph, with inputs and attributes that its own inference accepts.
#pragma once

#include "app/validate/graphs/choices.hpp"
#include "graph/build/builder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::graphs {

/// Most that one op may be.
struct OpLimits {
  std::size_t elements = 6000; ///< of each result, and of each input that is drawn
  double operations = 5e5;
};

/// A graph as it grows.
class GrowingGraph {
public:
  GrowingGraph(Choices &choices, graph::Graph &graph);

  Choices &choices() { return choices_; }
  graph::Builder &build() { return build_; }

  /// An input of real numbers.
  graph::TensorId add_input(const graph::Shape &shape);
  /// The largest image that there may be, nearly.
  graph::TensorId add_large_image();
  /// An op of the operator with `first` as its first input (kNone: a new tensor, or of whole numbers one that is
  /// there), in at most `tries` tries; empty: none was legal. `single`: its first result is one number.
  std::vector<graph::TensorId> add_op(const graph::Operator &type, graph::TensorId first, int tries,
                                      bool single = false);

  /// `x` times a new parameter of its shape, which is learned.
  graph::TensorId add_product(graph::TensorId x);
  /// A tensor of real numbers that is there, new ones and those that nobody reads more often.
  graph::TensorId pick_real();
  /// Whether a parameter that is learned goes into it.
  bool learned(graph::TensorId id) const { return learned_[id]; }
  std::uint32_t readers(graph::TensorId id) const { return readers_[id]; }
  const std::vector<graph::TensorId> &reals() const { return reals_; }
  /// Tensors of whole numbers and truth values.
  const std::vector<graph::TensorId> &indices() const { return indices_; }

private:
  /// An input of an op: a tensor that is there, or one that will be.
  struct Source {
    graph::TensorId id = graph::kNone;
    std::optional<graph::Tensor> leaf = {};
    bool left_out = false;
  };
  struct Trial;

  std::optional<Trial> try_op(const graph::Operator &type, graph::TensorId first, bool single);
  bool is_legal(const graph::Operator &type, const Trial &trial, bool single) const;
  Source draw_source(const graph::Operator &type, std::size_t i, const graph::Shape *first);
  Source draw_index(std::size_t i, const graph::Shape *first);
  Source draw_leaf(const graph::Operator &type, std::size_t i, const graph::Shape &shape);
  std::optional<graph::TensorId> there(const graph::Shape &shape, bool real);
  graph::TensorId make_leaf(const graph::Tensor &leaf);
  void note(graph::TensorId id, bool learned);
  void update_states(const graph::Operator &type, const std::vector<graph::TensorId> &inputs,
                     const std::vector<graph::TensorId> &outputs);

  Choices &choices_;
  graph::Graph &graph_;
  graph::Builder build_;
  OpLimits limits_;
  std::vector<bool> learned_;
  std::vector<std::uint32_t> readers_;
  std::vector<graph::TensorId> reals_, indices_;
};

} // namespace gradweave::graphs
