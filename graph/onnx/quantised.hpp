// Operators on quantised numbers.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <set>
#include <string>

namespace gradweave::graph::onnx {

/// Puts operators on real numbers in the place of those on quantised ones, ONNX's own and onnxruntime's: weights are
/// dequantised, and activations are the real numbers that quantised ones stand for. Returns the names of the values
/// that were quantised.
std::set<std::string> take_real_numbers(Model &model);

} // namespace gradweave::graph::onnx
