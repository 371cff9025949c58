// Recurrent layers.
#include "graph/compose/lstm.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kMostSteps = 4096; // each is a dozen ops

/// Sizes of a recurrent layer, and its checks.
struct Recurrent {
  Value x; ///< [steps, batch, features]
  std::int64_t steps, batch, features, hidden, gates;
  std::vector<bool> reverse;                 ///< of each direction
  bool batch_first;                          ///< in the file: input, states and results
  std::vector<std::string> activations = {}; ///< of each direction as many

  /// `usual`: activations of a direction.
  Recurrent(const NodeImport &node, std::int64_t gate_count, const std::vector<std::string> &usual)
      : gates(gate_count) {
    const Value &w = node.real_in(1), &r = node.real_in(2);
    x = node.real_in(0);
    batch_first = node.integer("layout", 0) != 0;
    if (x.rank() != 3)
      node.fail(fmt::format("input '{}' is {}; it must be [steps, batch, features]", x.name, text_of(x.dims)));
    if (batch_first) x = transposed(std::move(x), {1, 0, 2});
    if (x.dims[0] > kMostSteps) node.fail(fmt::format("{} steps are more than {}", x.dims[0], kMostSteps));
    steps = x.dims[0], batch = x.dims[1], features = x.dims[2];
    const std::string direction = node.text("direction", "forward");
    if (direction == "bidirectional")
      reverse = {false, true};
    else if (direction == "forward" || direction == "reverse")
      reverse = {direction == "reverse"};
    else
      node.fail(fmt::format("attribute 'direction' = '{}' is not known", direction));
    hidden = r.rank() == 3 ? r.dims[2] : 0;
    if (const std::int64_t size = node.integer("hidden_size", hidden); size != hidden)
      node.fail(fmt::format("attribute 'hidden_size' = {}, and '{}' is {}", size, r.name, text_of(r.dims)));
    check(node, w, {directions(), gates * hidden, features});
    check(node, r, {directions(), gates * hidden, hidden});
    if (node.has_input(3)) check(node, node.real_in(3), {directions(), 2 * gates * hidden});
    if (node.has_input(4)) check_lengths(node);
    choose_activations(node, usual);
    for (const char *name : {"activation_alpha", "activation_beta", "clip", "input_forget"})
      if (node.has_attribute(name) && (std::string_view(name) != "input_forget" || node.integer(name, 0) != 0))
        node.fail(fmt::format("attribute '{}' is not taken", name));
  }

  std::int64_t directions() const { return static_cast<std::int64_t>(reverse.size()); }

private:
  static void check(const NodeImport &node, const Value &value, const Dims &dims) {
    if (value.dims != dims)
      node.fail(fmt::format("'{}' is {}; it must be {}", value.name, text_of(value.dims), text_of(dims)));
  }
  void choose_activations(const NodeImport &node, const std::vector<std::string> &usual) {
    std::vector<std::string> all;
    for (std::size_t d = 0; d < reverse.size(); ++d)
      all.insert(all.end(), usual.begin(), usual.end());
    activations = node.texts("activations", all);
    if (activations.size() != all.size())
      node.fail(fmt::format("attribute 'activations' has {} names; it must have {}", activations.size(), all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string &name = activations[i];
      if (gates == 1 && (name == "Tanh" || name == "Relu" || name == "Sigmoid")) continue;
      if (name != all[i])
        node.fail(fmt::format("activation '{}' is not taken; {}", name,
                              gates == 1 ? "Tanh, Relu and Sigmoid are" : all[i] + " is"));
    }
  }
  void check_lengths(const NodeImport &node) const {
    const Dims lengths = node.list(4, "sequence_lens", {});
    if (std::any_of(lengths.begin(), lengths.end(), [this](std::int64_t l) { return l != steps; }))
      node.fail("sequence_lens: all rows must be as long as the input");
  }
};

/// Direction d of [directions, a, b], with the last two dimensions in the order.
TensorId of_direction(NodeImport &node, const Value &value, std::size_t d, const std::vector<Dims> &cuts,
                      const Order &order, const Dims &dims, const char *initial) {
  const Value part = node.place.part(value, d);
  Arrangement arrangement{cuts, {0}, dims};
  arrangement.cuts.insert(arrangement.cuts.begin(), Dims{1});
  for (const std::size_t axis : order)
    arrangement.order.push_back(axis + 1);
  return node.place.arranged(part, arrangement, initial);
}

/// The first state of a direction, [batch, hidden]; zeros if the node has none.
TensorId first_state(NodeImport &node, std::size_t input, std::size_t d, const Recurrent &layer) {
  const Dims dims{layer.batch, layer.hidden};
  if (!node.has_input(input))
    return node.build.constant(node.build.fresh(node.node().outputs.back() + ".zeros"),
                               shape_of(node.build, "state", dims), {0}, ElementType::kFp32);
  Value value = node.real_in(input);
  if (layer.batch_first && value.rank() == 3) value = transposed(std::move(value), {1, 0, 2});
  if (value.dims != Dims{layer.directions(), layer.batch, layer.hidden})
    node.fail(fmt::format("'{}' is {}; it must be [directions, batch, hidden]", value.name, text_of(value.dims)));
  TensorId all = node.place.plain(value);
  if (layer.directions() > 1)
    all = node.step("Slice", {all},
                    {{"starts", Dims{static_cast<std::int64_t>(d)}},
                     {"ends", Dims{static_cast<std::int64_t>(d) + 1}},
                     {"axes", Dims{0}}},
                    "state");
  return node.step("Reshape", {all}, {{"shape", dims}}, "state");
}

/// Results of the directions beside each other, as output `o`.
void give_joined(NodeImport &node, const Recurrent &layer, const std::vector<TensorId> &parts, std::size_t axis,
                 std::size_t o) {
  if (!node.wants(o)) return;
  std::vector<TensorId> cut;
  Dims dims;
  for (const TensorId part : parts) {
    dims = numbers(node.build.shape(part));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    cut.push_back(node.step("Reshape", {part}, {{"shape", dims}}, "direction"));
  }
  const TensorId joined = cut.size() == 1
                              ? cut.front()
                              : node.step("Concat", cut, {{"axis", static_cast<std::int64_t>(axis)}}, "directions");
  Value value;
  value.tensor = joined;
  value.dims = numbers(node.build.shape(joined));
  value.order = plain_order(value.rank());
  if (layer.batch_first) value = transposed(std::move(value), axis == 1 ? Dims{2, 0, 1, 3} : Dims{1, 0, 2});
  node.give(std::move(value), o);
}

/// Both biases, [2, gates x hidden]; zeros if the node has none.
TensorId biases(NodeImport &node, std::size_t d, const Recurrent &layer) {
  const Dims dims{2, layer.gates * layer.hidden};
  if (node.has_input(3)) return of_direction(node, node.real_in(3), d, {dims}, {0, 1}, dims, "zeros");
  return node.build.constant(node.build.fresh(node.node().outputs.back() + ".bias"), shape_of(node.build, "bias", dims),
                             {0}, ElementType::kFp32);
}

} // namespace

void import_lstm(NodeImport &node) {
  const Recurrent layer(node, 4, {"Sigmoid", "Tanh", "Tanh"});
  if (node.has_input(7)) node.fail("input 7, peepholes, is not taken");
  const std::int64_t width = 4 * layer.hidden;
  const TensorId x = node.place.plain(layer.x);
  std::vector<TensorId> outputs, hidden, cell;
  for (std::size_t d = 0; d < layer.reverse.size(); ++d) {
    LstmWeights weights;
    weights.input =
        of_direction(node, node.real_in(1), d, {{width}, {layer.features}}, {1, 0}, {layer.features, width}, "xavier");
    weights.recurrent =
        of_direction(node, node.real_in(2), d, {{width}, {layer.hidden}}, {1, 0}, {layer.hidden, width}, "xavier");
    weights.bias =
        node.step("ReduceSum", {biases(node, d, layer)}, {{"axes", Dims{0}}, {"keepdims", std::int64_t{0}}}, "bias");
    weights.gates = {0, 2, 3, 1};
    const LstmState first{first_state(node, 5, d, layer), first_state(node, 6, d, layer)};
    const std::string name = node.build.fresh(node.name() + (layer.reverse[d] ? ".reverse" : ".forward"));
    const LstmResult result = add_lstm(node.build, x, weights, first, name, layer.reverse[d]);
    outputs.push_back(result.outputs);
    hidden.push_back(result.last.hidden);
    cell.push_back(result.last.cell);
  }
  give_joined(node, layer, outputs, 1, 0);
  give_joined(node, layer, hidden, 0, 1);
  give_joined(node, layer, cell, 0, 2);
}

namespace {

/// What the steps of a direction share.
struct Direction {
  TensorId recurrent = kNone, bias = kNone; ///< [hidden, gates hidden] and [gates hidden], of the state
  /// Of a state that is reset before its product: those of the last gate, which the others are without.
  TensorId last_recurrent = kNone, last_bias = kNone;
  std::int64_t hidden = 0;
  std::string activation = {}; ///< the first of the direction's
};

/// The next state, from the step's gates = x W + b and the state.
using Cell = TensorId (*)(Builder &, const Direction &, TensorId gates, TensorId h, const std::string &name);

/// Gates side by side, one by one.
std::vector<TensorId> gates_of(Builder &build, const Direction &of, TensorId gates, const std::string &name) {
  const std::size_t count = build.shape(gates).cols() / static_cast<std::size_t>(of.hidden);
  return build.add_all("Split", {gates}, {{"axis", std::int64_t{-1}}, {"split", Dims(count, of.hidden)}}, name, count);
}

TensorId biased_product(Builder &build, TensorId x, TensorId w, TensorId b, const std::string &name) {
  return build.add("Bias", {build.add("Gemm", {x, w}, {}, name + ".recurrent"), b}, {}, name + ".biased");
}

TensorId rnn_cell(Builder &build, const Direction &of, TensorId gates, TensorId h, const std::string &name) {
  const TensorId own = biased_product(build, h, of.recurrent, of.bias, name);
  return build.add(of.activation, {build.add("Add", {gates, own}, {}, name + ".sum")}, {}, name + ".hidden");
}

/// h' = h~ + z (h - h~), h~ = tanh(x_h + r (h R_h + b)) or, where the state is reset before its product, tanh(x_h + (r
/// h) R_h + b).
TensorId gru_cell(Builder &build, const Direction &of, TensorId gates, TensorId h, const std::string &name) {
  const std::vector<TensorId> x = gates_of(build, of, gates, name + ".of_x");
  const std::vector<TensorId> own =
      gates_of(build, of, biased_product(build, h, of.recurrent, of.bias, name), name + ".of_h");
  const auto gate = [&](std::size_t i, const char *what) {
    const TensorId sum = build.add("Add", {x[i], own[i]}, {}, fmt::format("{}.{}.sum", name, what));
    return build.add("Sigmoid", {sum}, {}, fmt::format("{}.{}", name, what));
  };
  const TensorId z = gate(0, "update"), r = gate(1, "reset");
  TensorId reset = build.add("Mul", {r, of.last_bias == kNone ? own[2] : h}, {}, name + ".forgotten");
  if (of.last_bias != kNone) reset = biased_product(build, reset, of.last_recurrent, of.last_bias, name + ".candidate");
  const TensorId candidate =
      build.add("Tanh", {build.add("Add", {x[2], reset}, {}, name + ".sum")}, {}, name + ".candidate");
  const TensorId away = build.add("Sub", {h, candidate}, {}, name + ".away");
  return build.add("Add", {candidate, build.add("Mul", {z, away}, {}, name + ".kept")}, {}, name + ".hidden");
}

/// Takes the last gate's weights out.
void separate_last(Builder &build, Direction &of, const std::string &name) {
  const std::int64_t all = build.shape(of.bias)[0];
  const Attributes last{{"axis", std::int64_t{-1}}, {"split", Dims{all - of.hidden, of.hidden}}};
  const std::vector<TensorId> weights = build.add_all("Split", {of.recurrent}, last, name + ".weights", 2);
  const std::vector<TensorId> bias = build.add_all("Split", {of.bias}, last, name + ".own_bias", 2);
  of = {weights[0], bias[0], weights[1], bias[1], of.hidden, of.activation};
}

/// All steps and directions of a layer whose state is h alone.
void give_recurrent(NodeImport &node, const Recurrent &layer, Cell cell, bool resets_before) {
  const std::int64_t width = layer.gates * layer.hidden;
  Builder &build = node.build;
  const TensorId x = node.place.plain(layer.x);
  std::vector<TensorId> outputs, last;
  for (std::size_t d = 0; d < layer.reverse.size(); ++d) {
    const std::string name = build.fresh(node.name() + (layer.reverse[d] ? ".reverse" : ".forward"));
    const TensorId w =
        of_direction(node, node.real_in(1), d, {{width}, {layer.features}}, {1, 0}, {layer.features, width}, "xavier");
    Direction of;
    of.hidden = layer.hidden;
    of.activation = layer.activations[d * layer.activations.size() / layer.reverse.size()];
    of.recurrent =
        of_direction(node, node.real_in(2), d, {{width}, {layer.hidden}}, {1, 0}, {layer.hidden, width}, "xavier");
    const std::vector<TensorId> both = build.add_all(
        "Split", {biases(node, d, layer)}, {{"axis", std::int64_t{0}}, {"split", Dims{1, 1}}}, name + ".biases", 2);
    const auto bias = [&](std::size_t i) { return node.step("Reshape", {both[i]}, {{"shape", Dims{width}}}, "bias"); };
    of.bias = bias(1);
    if (resets_before) separate_last(build, of, name);
    const TensorId products =
        build.add("Bias", {build.add("Gemm", {x, w}, {}, name + ".x"), bias(0)}, {}, name + ".bias");
    const std::vector<TensorId> parts = build.add_all(
        "Split", {products}, {{"axis", std::int64_t{0}}, {"split", Dims(static_cast<std::size_t>(layer.steps), 1)}},
        name + ".steps", static_cast<std::size_t>(layer.steps));
    TensorId h = first_state(node, 5, d, layer);
    std::vector<TensorId> steps(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t t = layer.reverse[d] ? parts.size() - 1 - i : i;
      const std::string step = fmt::format("{}.{}", name, t);
      const TensorId gates = build.add("Reshape", {parts[t]}, {{"shape", Dims{layer.batch, width}}}, step);
      h = cell(build, of, gates, h, step);
      steps[t] = build.add("Reshape", {h}, {{"shape", Dims{1, layer.batch, layer.hidden}}}, step + ".out");
    }
    outputs.push_back(build.add("Concat", steps, {{"axis", std::int64_t{0}}}, name));
    last.push_back(h);
  }
  give_joined(node, layer, outputs, 1, 0);
  give_joined(node, layer, last, 0, 1);
}

} // namespace

void import_gru(NodeImport &node) {
  give_recurrent(node, Recurrent(node, 3, {"Sigmoid", "Tanh"}), gru_cell, node.integer("linear_before_reset", 0) == 0);
}

void import_rnn(NodeImport &node) { give_recurrent(node, Recurrent(node, 1, {"Tanh"}), rnn_cell, false); }

} // namespace gradweave::graph::onnx
