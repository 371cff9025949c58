// What follows from a file alone, or from the inputs before a step begins.
#pragma once

#include "graph/onnx/value/node_import.hpp"

#include <deque>
#include <set>
#include <string>

namespace gradweave::graph::onnx {

class KnownValues {
public:
  /// `images`: values that lie with their channels last. `frozen`: initializers that are not learned.
  KnownValues(Builder &build, const Model &model, std::set<std::string, std::less<>> images,
              std::set<std::string> frozen);

  /// The value of an initializer or of a Constant.
  Value value_of(const std::string &name, const Blob &blob) const;
  /// In which an input's dimensions lie.
  Order order_of(const Value &value) const;

  /// Gives the outputs of a node that follow from the file, or that are computed of whole numbers before a step. False:
  /// they do not.
  bool give(NodeImport &node) { return give_known(node) || give_on_host(node); }
  /// A value that is computed before a step becomes an input where the graph's operators read it.
  void take_from_host(Value &value);

private:
  bool give_known(NodeImport &node);
  bool give_filled(const FoldInputs &inputs, NodeImport &node);
  void give_constant(NodeImport &node) const;
  static bool give_on_host(NodeImport &node);

  Builder &build_;
  std::set<std::string, std::less<>> images_;
  std::set<std::string> frozen_;
  bool weights_are_nodes_;  ///< no initializer is one: Constant nodes have them
  std::deque<Blob> filled_; ///< of ConstantOfShape
};

} // namespace gradweave::graph::onnx
