// An LSTM as operators of a graph.
#pragma once

#include "graph/build/builder.hpp"

#include <string>
#include <vector>

namespace gradweave::graph {

/// Where the four gates stand, side by side.
struct GateOrder {
  std::size_t input = 0, forget = 1, cell = 2, output = 3; ///< PyTorch's; of ONNX 0, 2, 3, 1
};

struct LstmWeights {
  TensorId input = kNone;     ///< [features, 4 hidden]
  TensorId recurrent = kNone; ///< [hidden, 4 hidden]
  TensorId bias = kNone;      ///< [4 hidden]; the sum of PyTorch's two
  GateOrder gates = {};
};

struct LstmState {
  TensorId hidden = kNone, cell = kNone; ///< [batch, hidden]
};

struct LstmResult {
  TensorId outputs = kNone; ///< [steps, batch, hidden]
  LstmState last;
};

/// One step, from gates = x W + b of the step, [batch, 4 hidden]:
///   i, f, g, o = split(gates + h U); c' = sigmoid(f) c + sigmoid(i) tanh(g); h' = sigmoid(o) tanh(c').
LstmState add_lstm_cell(Builder &build, TensorId gates, LstmState state, const LstmWeights &weights,
                        const std::string &name);

/// All steps of x [steps, batch, features]; their products with the input's weights are one. `reverse`: from the last
/// step to the first. Throws GraphError, as the builder does.
LstmResult add_lstm(Builder &build, TensorId x, const LstmWeights &weights, LstmState first, const std::string &name,
                    bool reverse = false);

} // namespace gradweave::graph
