// Tensors of a graph as the matrices of a layer, and back.
#pragma once

#include "compiler/ir/layout.hpp"
#include "runtime/data/tensor.hpp"
#include "train/product_plan.hpp"

#include <vector>

namespace gradweave::runtime::train {

/// The operand of a layer that a tensor is, in bf16; `values` are bf16's, widened. Throws std::invalid_argument if
/// there are not as many as the matrix or the image has.
HostTensor to_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const compiler::TensorBinding &binding,
                     const std::vector<float> &values);

/// The tensor that a layer's result is: as it left the array, or, of an image's gradient, the sum of its copies rounded
/// to bf16 (N17).
std::vector<float> from_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const HostTensor &matrix);

} // namespace gradweave::runtime::train
