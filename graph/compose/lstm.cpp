#include "graph/compose/lstm.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

LstmState add_lstm_cell(Builder &build, TensorId gates, LstmState state, const LstmWeights &weights,
                        const std::string &name) {
  const std::int64_t hidden = build.shape(state.hidden).cols();
  const TensorId own = build.add("Gemm", {state.hidden, weights.recurrent}, {}, name + ".recurrent");
  const TensorId sum = build.add("Add", {gates, own}, {}, name + ".gates");
  const std::vector<TensorId> parts =
      build.add_all("Split", {sum}, {{"axis", std::int64_t{-1}}, {"split", std::vector<std::int64_t>(4, hidden)}},
                    name + ".split", 4);
  const TensorId input = build.add("Sigmoid", {parts[weights.gates.input]}, {}, name + ".input");
  const TensorId forget = build.add("Sigmoid", {parts[weights.gates.forget]}, {}, name + ".forget");
  const TensorId candidate = build.add("Tanh", {parts[weights.gates.cell]}, {}, name + ".candidate");
  const TensorId output = build.add("Sigmoid", {parts[weights.gates.output]}, {}, name + ".output");
  const TensorId kept = build.add("Mul", {forget, state.cell}, {}, name + ".kept");
  const TensorId added = build.add("Mul", {input, candidate}, {}, name + ".added");
  const TensorId cell = build.add("Add", {kept, added}, {}, name + ".cell");
  const TensorId squashed = build.add("Tanh", {cell}, {}, name + ".squashed");
  return {build.add("Mul", {output, squashed}, {}, name + ".hidden"), cell};
}

LstmResult add_lstm(Builder &build, TensorId x, const LstmWeights &weights, LstmState first, const std::string &name,
                    bool reverse) {
  const Shape shape = build.shape(x);
  if (shape.rank() != 3)
    build.fail(fmt::format("the LSTM's x is {}; it must be [steps, batch, features]", shape.text()));
  const std::size_t steps = shape[0];
  const std::int64_t batch = shape[1];
  const TensorId products = build.add("Gemm", {x, weights.input}, {}, name + ".x");
  const TensorId gates = build.add("Bias", {products, weights.bias}, {}, name + ".bias");
  const std::int64_t width = build.shape(gates).cols();
  const std::vector<TensorId> parts =
      build.add_all("Split", {gates}, {{"axis", std::int64_t{0}}, {"split", std::vector<std::int64_t>(steps, 1)}},
                    name + ".steps", steps);
  LstmResult result{kNone, first};
  std::vector<TensorId> outputs(steps);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t t = reverse ? steps - 1 - i : i;
    const std::string step = fmt::format("{}.{}", name, t);
    const TensorId own = build.add("Reshape", {parts[t]}, {{"shape", std::vector<std::int64_t>{batch, width}}}, step);
    result.last = add_lstm_cell(build, own, result.last, weights, step);
    outputs[t] = build.add("Reshape", {result.last.hidden}, {{"shape", std::vector<std::int64_t>{1, batch, width / 4}}},
                           step + ".out");
  }
  result.outputs = build.add("Concat", outputs, {{"axis", std::int64_t{0}}}, name);
  return result;
}

} // namespace gradweave::graph
