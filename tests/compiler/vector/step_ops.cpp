#include "tests/compiler/vector/step_ops.hpp"

#include "graph/frontend/load_network.hpp"
#include "graph/ir/product.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <array>
#include <cmath>
#include <set>

namespace gradweave::compiler {

using graph::Buffer;
using graph::Contract;
using graph::Graph;
using graph::Op;
using graph::Tensor;

namespace {

NetworkStep step_of(std::string name, const std::string &model, const std::map<std::string, std::string> &variables,
                    const graph::TrainingOptions &options) {
  NetworkSettings settings;
  for (const auto &[variable, value] : variables)
    settings.values[variable] = value;
  const Graph forward = load_graph("models/" + model + ".graph", settings);
  return {std::move(name), graph::training_graph(forward, graph::operators(), options).graph};
}

NetworkStep step_of_text(const std::string &name, const std::string &text, const graph::TrainingOptions &options) {
  const Graph forward = graph::read_graph(text, name + ".graph", graph::operators());
  return {name, graph::training_graph(forward, graph::operators(), options).graph};
}

/// Operators of images that the networks below do not have: padding that counts and that does not, windows that overlap
/// and that leave pixels out, blocks of equal pixels, the largest channel, and HardSwish.
NetworkStep image_step(const graph::TrainingOptions &options) {
  return step_of_text("images", R"(graph "images"
input x bf16 [2, 11, 10, 70]
input target fp32 [2, 6, 6, 70]
parameter b [70] init "zeros"
h = Bias(x, b)
g = HardSwish(h)
p = AveragePool(g) kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1]
q = AveragePool(p) kernel_shape=[3, 3] pads=[1, 1, 1, 1]
r = AveragePool(q) kernel_shape=[3, 3] pads=[1, 1, 1, 1] count_include_pad=1
s = AveragePool(r) kernel_shape=[1, 2] strides=[2, 3]
t = Resize(s) scales=[2, 3]
most = ReduceMax(t) axes=[3]
rest = Sub(t, most)
cost = MeanSquaredError(rest, target)
loss cost
)",
                      options);
}

/// Tensors of both types side by side, along columns and rows, and their gradients.
NetworkStep joined_step(const graph::TrainingOptions &options) {
  return step_of_text("joined", R"(graph "joined"
input x bf16 [5, 9]
input target fp32 [10, 22]
parameter w [9, 13] init "xavier"
parameter b [13] init "zeros"
parameter last [79, 22] init "xavier"
p = Gemm(x, w)
s = Bias(p, b)
a = Relu(s)
h = Concat(a, s, x) axis=1
u = Concat(a, x) axis=1
g = Concat(u, h, s, x) axis=1
flat = Reshape(g) shape=[79, 5]
r = Tanh(flat)
both = Concat(r, flat) axis=0
cut = Reshape(both) shape=[10, 79]
v = Gemm(cut, last)
cost = MeanSquaredError(v, target)
loss cost
)",
                      options);
}

/// Dropout of rows and columns of several lengths, one row and one column among them, in fp32 and in bf16.
NetworkStep dropout_step(const graph::TrainingOptions &options) {
  return step_of_text("dropout", R"(graph "dropout"
input x bf16 [6, 35, 70]
input key int32 [2]
input target fp32 [14700, 1]
parameter b [70] init "zeros"
h = Bias(x, b)
d = Dropout(h, key) ratio=0.25 stream=3
e = Relu(d)
f = Dropout(e, key) ratio=0.1 stream=4
r = Reshape(f) shape=[1, 14700]
s = Dropout(r, key) ratio=0.5 stream=5
t = Reshape(s) shape=[2450, 6]
u = Dropout(t, key) ratio=0.75 stream=6
v = Reshape(u) shape=[14700, 1]
w = Dropout(v, key) ratio=0.01 stream=7
cost = MeanSquaredError(w, target)
loss cost
)",
                      options);
}

/// Functions and walks along one axis that no network of models/ has.
NetworkStep functions_step(const graph::TrainingOptions &options) {
  return step_of_text("functions", R"(graph "functions"
input x bf16 [6, 5, 14]
input target fp32 [6, 5, 14]
parameter b [14] init "zeros"
h = Bias(x, b)
s = Sin(h)
c = Cos(s)
t = Atan(c)
low = Floor(h)
high = Ceil(h)
near = Round(h)
p = Pow(t, high)
across = CumSum(p) axis=1
along = CumSum(across) axis=-1 exclusive=1
down = CumSum(along)
first = ArgMax(down) axis=1 keepdims=0
last = ArgMax(near) axis=2 keepdims=0 select_last_index=1
columns = OneHot(first) depth=5 axis=1
row = OneHot(last) depth=14 wraps=1
other = NotEqual(low, near)
y = Where(columns, down, low)
z = Where(row, y, near)
rest = Mod(z, p)
v = Where(other, rest, high)
cost = MeanSquaredError(v, target)
loss cost
)",
                      options);
}

/// Dropout of bert_tiny's activations, which is off there.
NetworkStep dropped_activations() {
  Graph graph = graph::read_graph(R"(graph "activations"
input x bf16 [512, 1200]
input key int32 [2]
y = Dropout(x, key) ratio=0.1 stream=0
result y
)",
                                  "activations.graph", graph::operators());
  graph.tensors[graph.results[0]].type = graph::ElementType::kBf16;
  return {"activations", std::move(graph)};
}

/// What two ops agree in that are computed alike.
std::string signature(const Graph &graph, const Op &op) {
  std::string text(op.type->name);
  const auto add = [&](const std::vector<graph::TensorId> &tensors) {
    for (const graph::TensorId id : tensors)
      text += id == graph::kNone
                  ? " -"
                  : " " + std::string(graph::to_string(graph.tensors[id].type)) + graph.tensors[id].shape.text();
    text += " :";
  };
  add(op.inputs);
  add(op.outputs);
  for (const auto &[name, value] : op.attributes.all())
    text += " " + name + "=" + graph::to_string(value);
  return text;
}

float number_of(std::uint32_t bits) { return fp32_from_bits(bits); }

float special_number(Dice &dice) {
  static constexpr std::array<std::uint32_t, 14> kSpecial = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                                             0xFFC12345, 0x7FA00001, 0x00000001, 0x80000001, 0x007FFFFF,
                                                             0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0x00800000};
  if (dice.chance(0.2)) return number_of(static_cast<std::uint32_t>(dice.bits()));
  return number_of(kSpecial[dice.below(kSpecial.size())]);
}

/// Of several magnitudes, so that sums of bf16 values round, and their order is seen.
float tame_number(Dice &dice) {
  const auto part = static_cast<float>(dice.below(1U << 24U)) * 0x1p-24F;
  return std::ldexp(part * 4 - 2, 3 - static_cast<int>(dice.below(20)));
}

/// Inputs that are squares, or roots of them, are not negative unless they are to be special.
bool is_positive(std::string_view input) {
  return input == "v" || input == "rstd" || input == "running_variance" || input == "squares";
}

/// How many rows, classes or slices an input of whole numbers chooses from.
std::size_t choices(const Graph &graph, const Op &op, std::size_t input) {
  const std::string_view name = op.type->name;
  if (name == "Gather") {
    const graph::Shape &of = graph.tensors[op.inputs[0]].shape;
    const std::int64_t axis = op.attributes.integer("axis");
    return of[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(of.rank()) : axis)];
  }
  if (name == "GatherGradient") return static_cast<std::size_t>(op.attributes.integers("shape")[0]);
  if (name == "SparseAdamW" || name == "SparseSgd") return graph.tensors[op.inputs[0]].shape[0];
  if (input > 0) return graph.tensors[op.inputs[input - 1]].shape.cols(); // labels, behind logits
  return 2;
}

} // namespace

std::vector<NetworkStep> network_steps() {
  graph::TrainingOptions adamw;
  adamw.weight_decay = 0.01;
  graph::TrainingOptions sparse = adamw;
  sparse.sparse_embeddings = true;
  sparse.clip_norm = 1;
  graph::TrainingOptions sgd;
  sgd.optimizer = graph::OptimizerKind::kSgd;
  sgd.momentum = 0.9;
  sgd.weight_decay = 1e-4;
  std::vector<NetworkStep> steps;
  steps.push_back(step_of("bert_tiny", "bert_tiny",
                          {{"batch", "2"}, {"sequence", "24"}, {"layers", "1"}, {"width", "36"}, {"heads", "3"}},
                          adamw));
  steps.push_back(step_of("bert_tiny, sparse", "bert_tiny",
                          {{"batch", "3"}, {"sequence", "9"}, {"layers", "1"}, {"width", "24"}, {"heads", "2"}},
                          sparse));
  steps.push_back(step_of("lenet", "lenet", {{"batch", "3"}}, adamw));
  steps.push_back(step_of("mlp_fashion", "mlp_fashion", {{"batch", "7"}}, adamw));
  steps.push_back(step_of("resnet50", "resnet50", {{"batch", "2"}, {"pixels", "64"}}, sgd));
  steps.push_back(image_step(adamw));
  steps.push_back(dropout_step(adamw));
  steps.push_back(joined_step(adamw));
  steps.push_back(functions_step(adamw));
  return steps;
}

std::vector<NetworkStep> full_network_steps() {
  graph::TrainingOptions sgd;
  sgd.optimizer = graph::OptimizerKind::kSgd;
  sgd.momentum = 0.9;
  return {step_of("bert_tiny", "bert_tiny", {}, {}), step_of("lenet", "lenet", {}, {}),
          step_of("mlp_fashion", "mlp_fashion", {}, {}), step_of("resnet50", "resnet50", {{"batch", "4"}}, sgd),
          dropped_activations()};
}

std::vector<StepOp> distinct_ops(const std::vector<NetworkStep> &steps) {
  std::vector<StepOp> ops;
  std::set<std::string> seen;
  for (const NetworkStep &step : steps)
    for (const Op &op : step.graph.ops)
      if (!graph::is_product({step.graph, op}) && seen.insert(signature(step.graph, op)).second)
        ops.push_back({&step, &op});
  return ops;
}

Buffer<Contract> random_input(const Graph &graph, const Op &op, std::size_t input, Values values, Dice &dice) {
  const Tensor &tensor = graph.tensors[op.inputs[input]];
  Buffer<Contract> buffer;
  if (!is_real(tensor.type)) {
    const std::size_t all = choices(graph, op, input);
    for (std::size_t i = 0; i < tensor.shape.elements(); ++i) // near each other: some are equal, some follow
      buffer.index.push_back(
          static_cast<std::int32_t>(dice.below(dice.chance(0.5) ? all : std::min<std::size_t>(all, 8))));
    if (op.attributes.has("ignore_index") && values == Values::kSpecial)
      buffer.index[0] = static_cast<std::int32_t>(op.attributes.integer("ignore_index"));
    return buffer;
  }
  const bool positive = is_positive(op.type->inputs[std::min(input, op.type->inputs.size() - 1)].name);
  for (std::size_t i = 0; i < tensor.shape.elements(); ++i) {
    float value = tame_number(dice);
    if (positive) value = std::abs(value);
    if (values == Values::kSpecial && dice.chance(0.125)) value = special_number(dice);
    if (tensor.type == graph::ElementType::kBf16) value = fp32_from_bf16(bf16_from_fp32(value));
    buffer.real.push_back(value);
  }
  return buffer;
}

std::vector<Buffer<Contract>> golden_outputs(const Graph &graph, const Op &op,
                                             const std::vector<Buffer<Contract>> &given) {
  std::vector<Buffer<Contract>> results(op.outputs.size());
  std::vector<const Buffer<Contract> *> inputs;
  std::vector<Buffer<Contract> *> outputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    inputs.push_back(op.inputs[i] == graph::kNone ? nullptr : &given[i]);
  for (std::size_t o = 0; o < op.outputs.size(); ++o) {
    if (op.outputs[o] == graph::kNone) {
      outputs.push_back(nullptr);
      continue;
    }
    const Tensor &tensor = graph.tensors[op.outputs[o]];
    if (is_real(tensor.type))
      results[o].real.resize(tensor.shape.elements());
    else
      results[o].index.resize(tensor.shape.elements());
    outputs.push_back(&results[o]);
  }
  graph::Kernel<Contract> kernel(graph, op, inputs, outputs, 1);
  op.type->contract(kernel);
  for (std::size_t o = 0; o < op.outputs.size(); ++o)
    if (op.outputs[o] != graph::kNone && graph.tensors[op.outputs[o]].type == graph::ElementType::kBf16)
      for (float &value : results[o].real)
        value = fp32_from_bf16(bf16_from_fp32(value));
  return results;
}

OpData random_data(const Graph &graph, const Op &op, Values values, Dice &dice) {
  OpData data;
  data.inputs.resize(op.inputs.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i] != graph::kNone) data.inputs[i] = random_input(graph, op, i, values, dice);
  data.outputs = golden_outputs(graph, op, data.inputs);
  return data;
}

OpData random_indices(const Graph &graph, const Op &op, Dice &dice) {
  OpData data;
  data.inputs.resize(op.inputs.size());
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i] != graph::kNone && !is_real(graph.tensors[op.inputs[i]].type))
      data.inputs[i] = random_input(graph, op, i, Values::kTame, dice);
  return data;
}

std::vector<std::uint32_t> bits_of(const Buffer<Contract> &buffer) {
  std::vector<std::uint32_t> bits;
  bits.reserve(buffer.real.size() + buffer.index.size());
  for (const float value : buffer.real)
    bits.push_back(bits_of_fp32(value));
  for (const std::int32_t value : buffer.index)
    bits.push_back(static_cast<std::uint32_t>(value));
  return bits;
}

} // namespace gradweave::compiler
