// Whole numbers of the file as an input of the graph.
#pragma once

#include "graph/onnx/value/value.hpp"

namespace gradweave::graph::onnx {

/// An input of the graph that holds `value`, in the order, and is computed of the inputs of `build` when these are fed.
TensorId add_host_input(Builder &build, const Value &value, const Order &order);

} // namespace gradweave::graph::onnx
