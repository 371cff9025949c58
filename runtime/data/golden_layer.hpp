// What a layer's results must be: the golden model applied to its inputs.
#pragma once

#include "runtime/data/tensor.hpp"

#include <utility>
#include <vector>

namespace gradweave::runtime {

/// The inputs and results of a layer in host memory, one entry per binding of the compiled layer.
using TensorSet = std::vector<HostTensor>;

/// What results of a layer are computed from: tensors of others, each by what this layer calls it.
class Operands {
public:
  Operands() = default;
  /// Of a set that outlives the object, each by its own name.
  Operands(const TensorSet &set) { // NOLINT(google-explicit-constructor): a set is one way to have them
    for (const HostTensor &tensor : set)
      add(tensor.tensor, tensor);
  }
  /// `tensor` outlives the object.
  void add(compiler::Tensor name, const HostTensor &tensor) { tensors_.emplace_back(name, &tensor); }
  /// Throws std::out_of_range if there is none.
  const HostTensor &operator[](compiler::Tensor name) const;

private:
  std::vector<std::pair<compiler::Tensor, const HostTensor *>> tensors_;
};

/// The result `tensor` (Y, dX or dW) of a layer of `groups` groups with these inputs, by the numeric contract
/// (docs/numerics.md), under a reduction plan. Shapes follow from the inputs'. `fp32`: Y or dX leaves as the sum it is;
/// dW always does.
HostTensor golden_result(compiler::Tensor tensor, const Operands &inputs, std::uint32_t groups = 1,
                         const compiler::ReductionPlans &plans = {}, bool fp32 = false);

/// The same of a layer that reads images: X and dX are images, a row a pixel (N23, N24).
HostTensor golden_image_result(compiler::Tensor tensor, const compiler::Layer &layer, const Operands &inputs,
                               const compiler::ReductionPlans &plans = {});

} // namespace gradweave::runtime
