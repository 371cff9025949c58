#include "app/validate/graphs/draw_graph.hpp"

#include "app/validate/graphs/draw_op.hpp"
#include "app/validate/graphs/draw_values.hpp"
#include "graph/operators/table.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gradweave::graphs {
namespace {

using graph::kNone;
using graph::Operator;
using graph::TensorId;

constexpr int kTries = 60; ///< for one operator

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Operators that stand behind one another in many networks: drawn one by one they would seldom meet. Empty: any. Of
/// the first ones the image is large at times.
constexpr std::size_t kOfLarge = 2;
constexpr std::array<std::array<std::string_view, 4>, 25> kIdioms = {{
    {"BatchNormalization", "Relu", "GlobalAveragePool", "Flatten"},
    {"BatchNormalization", "Add", "HardSwish", ""},
    {"Conv", "Bias", "Relu", ""},
    {"Conv", "BatchNormalization", "Relu", "MaxPool"},
    {"Conv", "BatchNormalization", "HardSwish", "Conv"},
    {"Conv", "Bias", "GlobalAveragePool", "Flatten"},
    {"Conv", "AveragePool", "Conv", "Add"},
    {"Conv", "Relu", "ConvTranspose", "Add"},
    {"MaxPool", "Conv", "BatchNormalization", "LeakyRelu"},
    {"MatMul", "MatMul", "Softmax", "MatMul"},
    {"MatMul", "Add", "Softmax", "MatMul"},
    {"MatMul", "Transpose", "MatMul", "Add"},
    {"Gemm", "Bias", "Gelu", "Gemm"},
    {"MatMul", "Bias", "Dropout", "Add"},
    {"MatMul", "Softmax", "MatMul", "Transpose"},
    {"Reshape", "Transpose", "MatMul", "Softmax"},
    {"LayerNormalization", "MatMul", "Bias", "Silu"},
    {"Flatten", "Gemm", "Bias", "Tanh"},
    {"Gather", "Add", "LayerNormalization", "MatMul"},
    {"Gather", "Tanh", "", ""},
    {"RMSNormalization", "Gemm", "Sigmoid", "Mul"},
    {"Greater", "Where", "", ""},
    {"Equal", "ConcatIndices", "Where", "Add"},
    {"LessOrEqual", "SplitIndices", "Where", "Mul"},
    {"ConvTranspose", "Bias", "", ""},
}};

bool looks_up(const Operator &type) {
  return std::any_of(type.inputs.begin() + 1, type.inputs.end(),
                     [](const graph::InputSpec &spec) { return spec.takes == graph::Takes::kIndex; });
}

class NetworkDrawer {
public:
  NetworkDrawer(Choices &choices, graph::Graph &graph) : choices_(choices), graph_(graph), grow_(choices, graph) {}

  void run(std::uint32_t most) {
    for (std::uint32_t inputs = choices_.percent(80) ? 1 : 2; inputs > 0; --inputs)
      grow_.add_input(draw_shape(choices_));
    const std::uint32_t ops = choices_.between(1, most);
    for (std::uint32_t at = 0; at < ops;) {
      if (choices_.percent(45))
        at += add_idiom();
      else
        at += add_any(start(), {}) == kNone ? 0 : 1;
      if (++rounds_ > 4 * most) break; // bytes that are at their end draw the same again and again
    }
    add_losses();
    add_marks();
  }

private:
  TensorId start() { return choices_.percent(5) ? kNone : grow_.pick_real(); }

  /// Of operators without derivative a result of real numbers must not depend on what is learned.
  bool may_read(const Operator &type, TensorId first) const {
    return type.derive != nullptr || type.outputs.front().gives == graph::Gives::kIndex || first == kNone ||
           !grow_.learned(first);
  }

  /// An operator of that name, of any if it is empty; the first result, kNone if there is none.
  TensorId add_any(TensorId first, std::string_view name) {
    const Operator *type = name.empty() ? choices_.pick(network_operators()) : graph::operators().find(name);
    if (type == nullptr || !may_read(*type, first)) return kNone;
    // Whole numbers are drawn apart; and what is looked up in is often a table of its own.
    if (type->inputs.front().takes == graph::Takes::kIndex || (looks_up(*type) && choices_.percent(60))) first = kNone;
    const std::vector<TensorId> outputs = grow_.add_op(*type, first, kTries);
    if (outputs.empty() || !graph::is_real(graph_.tensors[outputs.front()].type)) return kNone;
    return outputs.front();
  }

  std::uint32_t add_idiom() {
    const bool large = choices_.percent(8);
    const auto &idiom = kIdioms[choices_.below(large ? kOfLarge : kIdioms.size())];
    std::uint32_t added = 0;
    TensorId at = large ? grow_.add_large_image() : start();
    for (const std::string_view name : idiom) {
      TensorId next = add_any(at, choices_.percent(15) ? std::string_view() : name);
      if (next == kNone && added == 0) next = add_any(kNone, name); // what is there is of no such shape
      if (next == kNone) continue;
      at = next;
      ++added;
    }
    return added;
  }

  /// A tensor that the loss may be of: something learned goes into it.
  TensorId learned_tensor() {
    std::vector<TensorId> open, any;
    for (const TensorId id : grow_.reals())
      if (grow_.learned(id) && graph_.tensors[id].computed()) {
        any.push_back(id);
        if (grow_.readers(id) == 0) open.push_back(id);
      }
    if (!open.empty() && choices_.percent(85)) return choices_.pick(open);
    if (!any.empty()) return choices_.pick(any);
    return grow_.add_product(grow_.pick_real());
  }

  TensorId add_loss(TensorId of) {
    const auto &all = network_operators();
    for (int i = 0; i < 40; ++i) {
      const Operator &type = *choices_.pick(all);
      if (type.derive == nullptr || type.inputs.front().takes == graph::Takes::kIndex) continue;
      const std::vector<TensorId> outputs = grow_.add_op(type, of, 8, true);
      if (!outputs.empty()) return outputs.front();
    }
    return grow_.build().add("ReduceMean", {of}, {{"keepdims", std::int64_t{0}}}, grow_.build().fresh("t"));
  }

  void add_losses() {
    graph::Builder &build = grow_.build();
    TensorId total = kNone;
    for (std::uint32_t losses = choices_.percent(70) ? 1 : choices_.between(2, 3); losses > 0; --losses) {
      TensorId loss = add_loss(learned_tensor());
      if (build.shape(loss).rank() != 0)
        loss = build.add("Reshape", {loss}, {{"shape", std::vector<std::int64_t>{}}}, build.fresh("t"));
      if (total != kNone && choices_.percent(40))
        loss = build.add("Scale", {loss}, {{"value", 0.25}}, build.fresh("t"));
      total = total == kNone ? loss : build.add("Add", {total, loss}, {}, build.fresh("t"));
    }
    graph_.loss = total;
  }

  /// Results keep alive what no loss reads; edges of a type that was asked for, and ops computed again.
  void add_marks() {
    for (const TensorId id : grow_.reals()) {
      if (id == graph_.loss || !graph_.tensors[id].computed()) continue;
      if (choices_.percent(grow_.readers(id) == 0 ? 25 : 8)) graph_.results.push_back(id);
      const graph::Op &op = graph_.ops[graph_.tensors[id].producer];
      const graph::Gives gives = op.type->outputs.front().gives;
      const bool free = gives == graph::Gives::kActivation || gives == graph::Gives::kSum;
      if (free && id == op.outputs.front() && choices_.percent(5))
        grow_.build().fix_type(id, choices_.percent(50) ? graph::ElementType::kFp32 : graph::ElementType::kBf16);
    }
    for (graph::Op &op : graph_.ops)
      op.recompute = choices_.percent(4);
    for (const TensorId id : grow_.indices())
      if (graph_.tensors[id].computed() && grow_.readers(id) == 0 && choices_.percent(25)) graph_.results.push_back(id);
  }

  Choices &choices_;
  graph::Graph &graph_;
  GrowingGraph grow_;
  std::uint32_t rounds_ = 0;
};

} // namespace

const std::vector<const Operator *> &network_operators() {
  static const std::vector<const Operator *> operators = [] {
    std::vector<const Operator *> found;
    for (const Operator &type : graph::operators().all())
      if (!type.of_step && !ends_with(type.name, "Gradient")) found.push_back(&type);
    return found;
  }();
  return operators;
}

graph::Graph draw_graph(Choices &choices, std::uint32_t most, const std::string &name) {
  graph::Graph graph;
  graph.name = name;
  NetworkDrawer(choices, graph).run(most);
  return graph;
}

} // namespace gradweave::graphs
