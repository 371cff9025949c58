// What Operator::derive sees of an op.
#pragma once

#include "graph/build/builder.hpp"

namespace gradweave::graph {

/// Gradients of the loss with respect to the outputs in, ops that compute those with respect to the inputs out.
class Derivation {
public:
  /// `op` by value: ops move while others are emitted.
  Derivation(Builder &builder, Op op, std::vector<TensorId> gradients, std::vector<bool> wanted)
      : build(builder), op_(std::move(op)), gradients_(std::move(gradients)), wanted_(std::move(wanted)),
        given_(op_.inputs.size(), kNone) {}

  Builder &build; ///< emits with names of its own, and Role::kGradient

  const Op &op() const { return op_; }
  TensorId input(std::size_t i) const { return op_.inputs[i]; }
  TensorId output(std::size_t o) const { return op_.outputs[o]; }
  bool has(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != kNone; }
  const Shape &shape(std::size_t i) const { return build.shape(input(i)); }
  const Attributes &attributes() const { return op_.attributes; }

  /// Whether the gradient of an input is needed.
  bool wants(std::size_t i) const { return i < wanted_.size() && wanted_[i]; }
  /// Of an output; kNone if the loss does not depend on it. At least one is there.
  TensorId gradient(std::size_t o = 0) const { return gradients_[o]; }
  /// The gradient of an input, of its shape.
  void give(std::size_t i, TensorId gradient) { given_[i] = gradient; }
  const std::vector<TensorId> &given() const { return given_; }

  /// "d(tensor)": how the gradient of an input is called; with a number, if another reader of the tensor gave one.
  std::string name(std::size_t i) const { return build.fresh("d(" + build.tensor(input(i)).name + ")"); }

private:
  Op op_;
  std::vector<TensorId> gradients_;
  std::vector<bool> wanted_;
  std::vector<TensorId> given_;
};

} // namespace gradweave::graph
