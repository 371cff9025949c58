// Tensors of a graph as the matrices of a layer, and back.
#pragma once

#include "compiler/ir/layout.hpp"
#include "graph/golden/execution.hpp"
#include "runtime/data/tensor.hpp"
#include "train/product_plan.hpp"

#include <vector>

namespace gradweave::runtime::train {

/// The operand of a layer that a tensor is, or that im2col makes of it, in bf16; `values` are bf16's, widened. Throws
/// std::invalid_argument if there are not as many as the tensor has.
HostTensor to_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const compiler::TensorBinding &binding,
                     const std::vector<float> &values);

/// Puts a layer's result, as it left the array, in its place in `values`: all of the tensor, or the pixels of its
/// phase. Of the others, if none were there before, it is +0.
void take_result(const PlacedTensor &placed, const compiler::Layer &layer, const HostTensor &matrix,
                 graph::Execution<graph::Contract> &values);

} // namespace gradweave::runtime::train
