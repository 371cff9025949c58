// Which of a file's real numbers are buffers: ONNX does not tell them from parameters.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <set>
#include <string>

namespace gradweave::graph::onnx {

/// Initializers of more than one real number that are not learned: whatever is made of them reaches no place that is
/// learned. Such places are a layer's weights, scale and bias, a table that is looked up, and the other operand of an
/// operation with data; but not a divisor or what is subtracted, a factor of two long dimensions (tables of rotary
/// embeddings, masks), nor anything behind a sine, a rounding or a comparison. A table whose columns are sines of their
/// row, or that has two values alone, is none either. Empty if nothing would be learned.
std::set<std::string> buffers_of(const Model &model);

} // namespace gradweave::graph::onnx
