// What a layer's results must be: the golden model applied to its inputs.
#pragma once

#include "runtime/tensor.hpp"

#include <vector>

namespace gradweave::runtime {

/// The inputs and results of a layer in host memory, one entry per binding of the compiled layer.
using TensorSet = std::vector<HostTensor>;

/// The tensor of that kind; throws std::out_of_range if there is none.
const HostTensor &find_tensor(const TensorSet &set, compiler::Tensor tensor);

/// The result `tensor` (Y, dX or dW) of a layer of `groups` groups with these inputs, by the numeric contract
/// (docs/numerics.md), under a reduction plan. Shapes follow from the inputs'. `fp32`: Y or dX leaves as the sum it is;
/// dW always does.
HostTensor golden_result(compiler::Tensor tensor, const TensorSet &inputs, std::uint32_t groups = 1,
                         const compiler::ReductionPlans &plans = {}, bool fp32 = false);

} // namespace gradweave::runtime
