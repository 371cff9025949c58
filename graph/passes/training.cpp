#include "graph/passes/training.hpp"

#include "graph/build/builder.hpp"
#include "graph/passes/dead_code.hpp"
#include "graph/passes/edges.hpp"
#include "graph/passes/micro_batches.hpp"
#include "graph/passes/optimizer.hpp"
#include "graph/passes/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::graph {
namespace {

void check_options(const Graph &forward, const TrainingOptions &options) {
  const auto require = [&](bool condition, std::string_view message) {
    if (!condition) throw GraphError(fmt::format("graph '{}': {}", forward.name, message));
  };
  require(options.accumulate >= 1, "a step has at least one micro-batch");
  require(!options.sparse_embeddings || options.accumulate == 1,
          "rows of embeddings are updated for one micro-batch a step; leave out --sparse-embeddings or --accumulate");
  require(options.clip_norm >= 0, "the norm that gradients are clipped to must be above 0");
}

/// Ids that later passes move, by what they are called.
struct Names {
  Names(const Graph &graph, const std::vector<Copy> &copies) {
    for (const Copy &copy : copies) {
      auto &[inputs, loss] = micro.emplace_back();
      for (const auto &[forward, step] : copy.inputs)
        inputs.emplace_back(forward, graph.tensors[step].name);
      loss = graph.tensors[copy.loss].name;
    }
  }

  struct Micro {
    std::vector<std::pair<TensorId, std::string>> inputs;
    std::string loss;
  };
  std::vector<Micro> micro;
};

} // namespace

TrainingGraph training_graph(const Graph &forward, const OperatorSet &operators, const TrainingOptions &options) {
  check_options(forward, options);
  TrainingGraph step;
  step.graph = forward;
  if (options.extent != Extent::kForward) {
    std::vector<OpId> from;
    step.gradients = add_gradients(step.graph, operators, {}, 1.0 / options.accumulate, &from);
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != kNone)
        step.goes_back_through.emplace_back(step.graph.ops[forward.ops.size() + i].name, step.graph.ops[from[i]].name);
  }
  const std::vector<Copy> copies = repeat_for_micro_batches(step.graph, operators, options.accumulate, step.gradients);
  std::string constants;
  if (options.extent == Extent::kUpdates)
    constants = step.graph.tensors[add_updates(step.graph, operators, step.gradients, options)].name;
  const Names names(step.graph, copies);
  for (std::size_t i = 1; i < copies.size(); ++i)
    step.graph.results.push_back(copies[i].loss);
  std::vector<TensorId> kept;
  for (const ParameterGradient &g : step.gradients)
    kept.insert(kept.end(), {g.parameter, g.gradient});
  if (options.extent == Extent::kGradients)
    for (const ParameterGradient &g : step.gradients)
      step.graph.results.push_back(g.gradient);

  assign_edges(step.graph, operators);
  if (options.read_samples) read_samples(step.graph, operators);
  drop_dead_code(step.graph, &kept);
  for (std::size_t i = 0; i < step.gradients.size(); ++i)
    step.gradients[i] = {kept[2 * i], kept[2 * i + 1]};
  for (const Names::Micro &micro : names.micro) {
    MicroBatch &batch = step.micro_batches.emplace_back();
    for (const auto &[id, name] : micro.inputs)
      batch.inputs.emplace_back(id, step.graph.find(name));
    batch.loss = step.graph.find(micro.loss);
  }
  if (!constants.empty()) step.constants = step.graph.find(constants);
  verify(step.graph);
  return step;
}

} // namespace gradweave::graph
