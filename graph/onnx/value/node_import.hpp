// What an operator's import sees of a node: attributes, the values that it reads, and the ops that it becomes.
#pragma once

#include "graph/onnx/fold/node_view.hpp"
#include "graph/onnx/value/value.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph::onnx {

/// What names of the file stand for.
using Values = std::map<std::string, Value, std::less<>>;
/// Names that a node or the caller reads.
using ReadNames = std::set<std::string_view>;

/// Imports nodes that stand for one.
using Expand = std::function<void(std::vector<Node>)>;

class NodeImport : public NodeView {
public:
  NodeImport(const NodeView &view, Builder &builder, Placement &placement, Values &values, const ReadNames &read,
             const Expand &expand)
      : NodeView(view), build(builder), place(placement), values_(values), read_(read), expand_(expand) {}

  Builder &build;
  Placement &place;

  /// An input; fails if it is missing.
  const Value &in(std::size_t i) const;
  /// The same; fails unless it is of real numbers.
  const Value &real_in(std::size_t i) const;
  /// An input that has to be known when the network is read; `what` names it.
  Literal literal(std::size_t i, std::string_view what) const;
  /// Whole numbers that an input has or, in older opsets, an attribute.
  Dims list(std::size_t input, std::string_view attribute, const Dims &fallback) const;
  /// A single number that an input has or, in older opsets, an attribute.
  double number(std::size_t input, std::string_view attribute, double fallback) const;
  /// Whether anybody reads an output.
  bool wants(std::size_t output) const {
    return output < node().outputs.size() && read_.count(node().outputs[output]) != 0;
  }

  /// What its ops are called after: the node, or its first output.
  std::string name() const;
  /// An op on the way to the node's outputs.
  TensorId step(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {},
                std::string_view suffix = {});
  /// The op that computes output 0: it has the node's name, and the output its own.
  TensorId last(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});
  /// The same for an op of several outputs.
  std::vector<TensorId> last_all(std::string_view op, std::vector<TensorId> inputs, Attributes attributes,
                                 std::size_t outputs);
  /// An op that changes elements one by one, of input `i`; gives output 0.
  void each(std::string_view op, const Attributes &attributes = {}, std::size_t i = 0);

  /// Imports these nodes, which compute the node's outputs, instead of it.
  void expand(std::vector<Node> nodes) { expand_(std::move(nodes)); }
  /// `value` is output `o`.
  void give(Value value, std::size_t o = 0);
  /// Real numbers in a tensor that has the output's dimensions in the order.
  void give(TensorId tensor, const Order &order, std::size_t o = 0);
  /// The same for what is one-for-one made of `like`.
  void give_like(TensorId tensor, const Value &like);

private:
  Values &values_;
  const ReadNames &read_;
  const Expand &expand_;
};

/// The value with its dimensions in another order: a name for the same elements.
Value transposed(Value value, const Dims &perm);

/// An order in which `values` are best computed together, of `rank` dimensions: that of the largest tensor of that
/// many.
Order common_order(const std::vector<const Value *> &values, std::size_t rank);

/// From a tensor whose dimensions are the value's in the order to those values: which order a tensor has behind it when
/// dimension `axis` goes.
Order without_axis(const Order &order, std::size_t axis);
/// The same when one comes in at `axis`, which lies where `place` says.
Order with_axis(const Order &order, std::size_t axis, std::size_t place);

/// What an operator of ONNX becomes.
using Importer = void (*)(NodeImport &);

} // namespace gradweave::graph::onnx
