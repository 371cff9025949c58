#include "graph/passes/optimizer.hpp"

#include "graph/build/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gradweave::graph {
namespace {

class Optimizer {
public:
  Optimizer(Graph &graph, const OperatorSet &operators, const TrainingOptions &options)
      : options_(options), forward_readers_(graph.consumers()), build_(graph, operators) {
    const std::uint32_t count = options.optimizer == OptimizerKind::kAdamW ? 3 : 1;
    constants_ = build_.input(build_.fresh("step_constants"), ElementType::kFp32, Shape{count});
  }

  TensorId run(const std::vector<ParameterGradient> &gradients) {
    if (options_.clip_norm > 0) clip(gradients);
    build_.set_role(Role::kUpdated);
    for (const ParameterGradient &g : gradients)
      update(g);
    return constants_;
  }

private:
  /// The squares of each gradient, and of all of them the factor.
  void clip(const std::vector<ParameterGradient> &gradients) {
    build_.set_role(Role::kGradient);
    std::set<TensorId> seen;
    std::vector<TensorId> squares;
    for (const ParameterGradient &g : gradients)
      if (seen.insert(g.gradient).second)
        squares.push_back(build_.add("SumSquares", {g.gradient}, {}, build_.fresh(name(g.gradient) + ".squares")));
    factor_ =
        build_.add("ClipFactor", std::move(squares), {{"max_norm", options_.clip_norm}}, build_.fresh("clip_factor"));
  }

  void update(const ParameterGradient &g) {
    const TensorId ids = options_.sparse_embeddings ? gathered_by(g.parameter) : kNone;
    const std::string sparse = ids == kNone ? "" : "Sparse";
    std::vector<TensorId> inputs{g.parameter, g.gradient};
    Attributes attributes{{"weight_decay", options_.weight_decay}};
    std::vector<TensorId> states;
    if (options_.optimizer == OptimizerKind::kAdamW) {
      states = {state(g.parameter, ".mean"), state(g.parameter, ".square")};
      attributes.set("beta1", options_.beta1);
      attributes.set("beta2", options_.beta2);
      attributes.set("epsilon", options_.epsilon);
    } else {
      if (options_.momentum != 0) states = {state(g.parameter, ".momentum")};
      attributes.set("momentum", options_.momentum);
      attributes.set("nesterov", std::int64_t{options_.nesterov ? 1 : 0});
    }
    inputs.insert(inputs.end(), states.begin(), states.end());
    if (states.empty()) inputs.push_back(kNone);
    inputs.push_back(constants_);
    if (ids != kNone) inputs.push_back(ids);
    if (factor_ != kNone) inputs.push_back(factor_);
    const std::vector<TensorId> next =
        build_.add_all(sparse + (options_.optimizer == OptimizerKind::kAdamW ? "AdamW" : "Sgd"), std::move(inputs),
                       std::move(attributes), build_.fresh(name(g.parameter) + ".next"));
    build_.at(build_.tensor(g.parameter).where); // of a network that updates it, too
    build_.update(g.parameter, next[0]);
    build_.at({});
    for (std::size_t s = 0; s < states.size(); ++s)
      build_.update(states[s], next[s + 1]);
  }

  const std::string &name(TensorId id) const { return build_.tensor(id).name; }

  TensorId state(TensorId parameter, const char *what) {
    return build_.state(build_.fresh(name(parameter) + what), build_.shape(parameter));
  }

  /// The indices by which its only reader, a Gather of rows, takes rows of a parameter; else kNone.
  TensorId gathered_by(TensorId parameter) {
    if (parameter >= forward_readers_.size()) return kNone;
    const Graph &graph = build_.graph();
    TensorId ids = kNone;
    for (const OpId reader : forward_readers_[parameter]) {
      const Op &op = graph.ops[reader];
      if (op.type->name == "GatherGradient") continue; // asks for its shape alone
      if (op.type->name != "Gather" || op.inputs[0] != parameter || ids != kNone) return kNone;
      if (op.attributes.has("axis") && op.attributes.integer("axis") != 0) return kNone;
      ids = op.inputs[1];
    }
    return ids;
  }

  const TrainingOptions &options_;
  Consumers forward_readers_; ///< of the graph before updates
  Builder build_;
  TensorId constants_ = kNone, factor_ = kNone;
};

} // namespace

TensorId add_updates(Graph &graph, const OperatorSet &operators, const std::vector<ParameterGradient> &gradients,
                     const TrainingOptions &options) {
  return Optimizer(graph, operators, options).run(gradients);
}

} // namespace gradweave::graph
