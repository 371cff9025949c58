// The second check of a convolution's results: against the convolution computed directly, without a matrix.
#pragma once

#include "runtime/data/check.hpp"
#include "runtime/data/golden_layer.hpp"

namespace gradweave::runtime {

/// What of a result is compared: "elements", or of dX "elements of the image's gradient".
std::string_view compared_directly(compiler::Tensor result);

/// Compares a result of a convolution: Y and dW as they are, dX after col2im with the image's gradient, whose rows are
/// pixels and whose columns are channels. `image` is what make_image() gives for the layer; `inputs` need W and dY as
/// far as the result depends on them. Throws std::invalid_argument if the layer is no convolution.
Comparison compare_direct(const HostTensor &got, const compiler::Layer &layer, const HostTensor &image,
                          const Operands &inputs, const compiler::ReductionPlans &plans);

} // namespace gradweave::runtime
