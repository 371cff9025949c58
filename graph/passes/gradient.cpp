#include "graph/passes/gradient.hpp"

#include "graph/build/derivation.hpp"
#include "graph/build/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gradweave::graph {
namespace {

[[noreturn]] void fail_at(const std::string &where, const std::string &message) {
  throw GraphError(where.empty() ? message : where + ": " + message);
}

/// Two Dropouts of one stream would drop the same elements. The gradients that follow have their ops' own numbers.
void check_own(const Graph &graph) {
  std::map<std::pair<const Operator *, std::int64_t>, const Op *> known;
  for (const Op &op : graph.ops)
    for (const AttributeSpec &spec : op.type->attributes) {
      if (!spec.own) continue;
      const std::int64_t own = op.attributes.integer(spec.name);
      const auto [other, is_new] = known.emplace(std::pair{op.type, own}, &op);
      if (!is_new)
        throw GraphError(
            fmt::format("{}: attribute '{}' = {} is also that of {}; give it a number of its own, or leave "
                        "it out",
                        describe(op), spec.name, own, describe(*other->second)));
    }
}

class GradientPass {
public:
  GradientPass(Graph &graph, const OperatorSet &operators, const std::vector<TensorId> &inputs, double seed,
               std::vector<OpId> *derived_from)
      : graph_(graph), seed_(seed), derived_from_(derived_from), build_(graph, operators),
        forward_ops_(static_cast<OpId>(graph.ops.size())), learned_(graph.tensors.size()),
        parts_(graph.tensors.size()) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
      learned_[id] = graph.tensors[id].role == Role::kParameter && !graph.tensors[id].frozen;
    for (const TensorId id : inputs)
      learned_[id] = true;
    for (const Op &op : graph.ops) {
      const bool depends =
          std::any_of(op.inputs.begin(), op.inputs.end(), [this](TensorId id) { return id != kNone && learned_[id]; });
      for (const TensorId output : op.outputs)
        if (output != kNone && depends) learned_[output] = true;
    }
    build_.set_role(Role::kGradient);
  }

  std::vector<ParameterGradient> run() {
    const Tensor &loss = graph_.tensors[graph_.loss];
    if (!learned_[graph_.loss])
      fail_at(loss.where, fmt::format("the loss '{}' depends on no parameter that is learned; declare one that it "
                                      "is computed from, or freeze less",
                                      loss.name));
    parts_[graph_.loss].push_back(build_.constant(build_.fresh("d(" + loss.name + ")"), loss.shape, {seed_}));
    for (OpId op = forward_ops_; op-- > 0;)
      derive(op);
    std::vector<ParameterGradient> result;
    for (TensorId id = 0; id < parts_.size(); ++id)
      if (!graph_.tensors[id].computed() && learned_[id] && !parts_[id].empty()) result.push_back({id, sum(id)});
    note(kNone);
    return result;
  }

private:
  /// Of all gradients that readers gave, which came in descending order of these.
  TensorId sum(TensorId id) {
    std::vector<TensorId> &parts = parts_[id];
    if (parts.empty()) return kNone;
    TensorId total = parts.back();
    for (std::size_t p = parts.size() - 1; p-- > 0;)
      total = build_.add("Add", {total, parts[p]}, {}, build_.fresh("d(" + graph_.tensors[id].name + ").sum"));
    parts = {total};
    return total;
  }

  void derive(OpId id) {
    const Op op = graph_.ops[id];
    std::vector<TensorId> gradients;
    for (const TensorId output : op.outputs)
      gradients.push_back(output == kNone ? kNone : sum(output));
    if (std::all_of(gradients.begin(), gradients.end(), [](TensorId g) { return g == kNone; })) return;
    std::vector<bool> wanted;
    for (const TensorId input : op.inputs)
      wanted.push_back(input != kNone && learned_[input]);
    if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return;
    if (op.type->derive == nullptr)
      throw GraphError(
          fmt::format("{}: has no derivative, and lies between the loss and a parameter; freeze the parameters "
                      "behind it, or take another operator",
                      describe(op)));
    build_.at(op.where);
    note(kNone);
    Derivation derivation(build_, going_back(op), std::move(gradients), wanted);
    op.type->derive(derivation);
    note(id);
    collect(op, derivation, wanted);
  }

  /// What the ops appended since the last call are derived from.
  void note(OpId forward) {
    if (derived_from_ != nullptr) derived_from_->resize(graph_.ops.size() - forward_ops_, forward);
  }

  void collect(const Op &op, const Derivation &derivation, const std::vector<bool> &wanted) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const TensorId gradient = derivation.given()[i];
      if (!wanted[i]) continue;
      if (gradient == kNone) continue; // an index, or an input that moves no result
      if (graph_.tensors[gradient].shape != graph_.tensors[op.inputs[i]].shape)
        throw GraphDefect(fmt::format("{}: the gradient of input {} is {}, and the input {}", describe(op), i,
                                      graph_.tensors[gradient].shape.text(),
                                      graph_.tensors[op.inputs[i]].shape.text()));
      parts_[op.inputs[i]].push_back(gradient);
    }
  }

  /// The op with tensors that are to be recomputed replaced.
  Op going_back(Op op) {
    for (TensorId &input : op.inputs)
      input = recomputed(input);
    if (op.recompute)
      for (TensorId &output : op.outputs)
        output = recomputed(output);
    return op;
  }

  TensorId recomputed(TensorId id) {
    if (id == kNone || !graph_.tensors[id].computed()) return id;
    const Op op = graph_.ops[graph_.tensors[id].producer];
    if (!op.recompute) return id;
    if (const auto known = again_.find(id); known != again_.end()) return known->second;
    std::vector<TensorId> inputs = op.inputs;
    for (TensorId &input : inputs)
      input = recomputed(input);
    const std::vector<TensorId> outputs =
        build_.add_all(op.type->name, inputs, op.attributes, build_.fresh(op.name + ".again"), op.outputs.size());
    for (std::size_t o = 0; o < outputs.size(); ++o)
      if (op.outputs[o] != kNone) again_[op.outputs[o]] = outputs[o];
    return again_.at(id);
  }

  Graph &graph_;
  double seed_;
  std::vector<OpId> *derived_from_;
  Builder build_;
  OpId forward_ops_;
  std::vector<bool> learned_;                ///< the loss may depend on something that is learned through it
  std::vector<std::vector<TensorId>> parts_; ///< of each tensor of the forward graph: gradients by its readers
  std::map<TensorId, TensorId> again_;
};

} // namespace

std::vector<ParameterGradient> add_gradients(Graph &graph, const OperatorSet &operators,
                                             const std::vector<TensorId> &inputs, double seed,
                                             std::vector<OpId> *derived_from) {
  if (graph.loss == kNone)
    fail_at(graph.ops.empty() ? "" : graph.ops.back().where,
            fmt::format("graph '{}' has no loss; add one, or run it forward only", graph.name));
  const Tensor &loss = graph.tensors[graph.loss];
  if (loss.shape.elements() != 1 || !is_real(loss.type))
    fail_at(loss.where, fmt::format("the loss '{}' is {} {}; it must be one real number, as ReduceMean gives",
                                    loss.name, to_string(loss.type), loss.shape.text()));
  check_own(graph);
  return GradientPass(graph, operators, inputs, seed, derived_from).run();
}

} // namespace gradweave::graph
