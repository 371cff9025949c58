#include "app/evaluation/unit/network_search.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_layer.hpp"
#include "compiler/compiler.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/paper/paper.hpp"
#include "graph/layer_fingerprint.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace gradweave::evaluation {
namespace {

using compiler::Layer;
using compiler::Pass;
using compiler::Schedule;

/// The paper's scheme: Algorithm 1 on the whole layer or on the parts of the best of the three partitionings; without
/// dX the baseline. It knows no images: a convolution's matrix is that of im2col.
std::uint64_t paper_cost(Layer layer, const Machine &npu, Pass pass, const compiler::Judge &judge) {
  layer.image = layer.forward_image = layer.vector = false;
  const compiler::paper::PaperScheduler scheme;
  std::uint64_t best = ~std::uint64_t{0};
  for (const compiler::Partition partition : compiler::all_partitions()) {
    compiler::CompileOptions options;
    options.schedule = Schedule::kRearrange;
    options.pass = pass;
    options.stream = false;
    options.partition = partition;
    options.parts = partition == compiler::Partition::kNone ? 1 : std::max(2U, npu.cores);
    compiler::CompileCache cache;
    try {
      const compiler::Compiled compiled = compiler::compile(scheme, {layer}, npu, options, cache);
      best = std::min(best, judge.cost_of(compiled.accesses, compiled.predicted_cycles));
    } catch (const compiler::CompileError &) {
      // The layer cannot be cut like this; the uncut one decides.
      if (partition == compiler::Partition::kNone) throw;
    }
    if (!compiler::computes_dx(layer, pass) && npu.cores == 1) break;
  }
  return best;
}

/// Cycles that the layer cannot beat, of each pass by itself.
std::uint64_t bound_of(const Layer &layer, Pass asked, const Machine &npu) {
  if (!layer.vector) return compiler::layer_bound(layer, asked, npu);
  std::uint64_t cycles = 0;
  for (const Pass pass : {Pass::kForward, Pass::kBackward})
    if (asked == Pass::kBoth || asked == pass)
      cycles += compiler::compile_vector_layer(layer, pass, npu).bounds.run_cycles;
  return cycles;
}

/// What the layer has to beat, and what it cannot.
LayerSearch compared(const Layer &layer, const Machine &npu, Pass asked, const SearchEffort &effort) {
  LayerSearch l;
  if (effort.objective == compiler::Objective::kCycles)
    for (const Layer &part : compiler::split_products(layer, npu))
      l.bound += bound_of(part, asked, npu);
  const compiler::Judge judge(npu, effort.objective);
  for (const Pass pass : {Pass::kForward, Pass::kBackward})
    if (effort.paper && (asked == Pass::kBoth || asked == pass)) l.paper += paper_cost(layer, npu, pass, judge);
  return l;
}

} // namespace

std::uint64_t NetworkSearch::sum(std::uint64_t LayerSearch::*cost) const {
  std::uint64_t total = 0;
  for (const LayerSearch &l : layers)
    total += l.*cost;
  return total;
}

double NetworkSearch::mean_above_bound() const {
  double total = 0;
  std::size_t count = 0;
  for (const LayerSearch &l : layers) {
    if (l.layer.groups > 1 || l.bound == 0) continue;
    total += static_cast<double>(l.searched) / static_cast<double>(l.bound) - 1;
    ++count;
  }
  return count == 0 ? 0 : total / static_cast<double>(count);
}

namespace {

/// Of which a step needs so much: all of its tensors together, of which a layer at a time need be at hand.
Machine roomy(Machine npu) {
  npu.memory.size_bytes = std::max(npu.memory.size_bytes, std::uint64_t{1} << 40U);
  return npu;
}

/// Layers as they are compiled.
struct Parts {
  std::vector<Layer> layers;
  std::vector<std::size_t> of; ///< the layer of the network that each is, or is of

  Parts(const std::vector<Layer> &whole, const Machine &npu) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (Layer &part : compiler::split_products(whole[i], npu)) {
        layers.push_back(std::move(part));
        of.push_back(i);
      }
  }
};

/// What each layer has to beat. `tell` is called after each.
NetworkSearch compared_layers(const std::vector<Layer> &layers, const Machine &npu, Pass pass,
                              const SearchEffort &effort, const std::function<void()> &tell) {
  NetworkSearch result;
  result.pass = pass;
  std::map<std::string, LayerSearch> known; // by shape
  for (const Layer &layer : layers) {
    const std::string shape = compiler::shape_fingerprint(layer).hex();
    auto it = known.find(shape);
    if (it == known.end()) it = known.emplace(shape, compared(layer, npu, pass, effort)).first;
    result.layers.push_back(it->second);
    result.layers.back().layer = layer;
    tell();
  }
  return result;
}

/// Compiles the step that was found, and adds what its layers cost.
void add_step(NetworkSearch &result, compiler::SearchedStep found, const Parts &parts, const Machine &npu) {
  result.found = std::move(found);
  result.step = compiler::compile_plans(parts.layers, result.pass, result.found.plans, npu);
  for (std::size_t p = 0; p < parts.layers.size(); ++p) {
    const compiler::LayerCosts &own = result.found.layers[p];
    LayerSearch &row = result.layers[parts.of[p]];
    row.conventional += own.conventional;
    row.searched += own.searched;
    if (parts.layers[p].vector)
      row.order = "vector unit";
    else if (result.pass != Pass::kForward)
      row.order = std::string(to_string(own.order));
    row.step_plan += (row.step_plan.empty() ? "" : "; ") + result.step.tilings[p];
  }
}

} // namespace

NetworkSearch search_network(const std::vector<Layer> &layers, const Machine &npu, Pass pass,
                             const SearchEffort &effort, const SearchProgress &progress) {
  const Machine machine = roomy(npu);
  const std::uint64_t step_units = layers.size() + effort.step_plans;
  std::uint64_t done = 0;
  NetworkSearch result = compared_layers(layers, machine, pass, effort, [&] {
    if (progress) progress(++done, layers.size() + step_units);
  });
  compiler::StepOptions options;
  options.pass = pass;
  options.layer_plans = effort.layer_plans;
  options.step_plans = effort.step_plans;
  options.start = effort.start;
  options.weave_again = effort.weave_again;
  options.objective = effort.objective;
  if (progress)
    options.progress = [&](std::uint64_t part, std::uint64_t of) {
      progress(layers.size() + part * step_units / of, layers.size() + step_units);
    };
  const Parts parts(layers, machine);
  add_step(result, compiler::search_step(parts.layers, machine, options), parts, machine);
  result.step_cost =
      compiler::Judge(machine, effort.objective).cost_of(result.step.accesses, result.step.predicted_cycles);
  return result;
}

NetworkSearch known_network(const std::vector<Layer> &layers, const Machine &npu, const std::string &plans) {
  const Machine machine = roomy(npu);
  SearchEffort effort;
  effort.paper = false;
  NetworkSearch result = compared_layers(layers, machine, Pass::kBoth, effort, [] {});
  const Parts parts(layers, machine);
  add_step(result, timed_step(plans, parts.layers, machine), parts, machine);
  result.step_cost = result.step.predicted_cycles;
  return result;
}

std::string network_text(const NetworkSearch &found, const Machine &npu, const SearchEffort &effort) {
  std::vector<Layer> layers;
  for (const LayerSearch &l : found.layers)
    layers.push_back(l.layer);
  return step_text(found.found, Parts(layers, roomy(npu)).layers,
                   {effort.layer_plans, effort.step_plans, effort.start});
}

} // namespace gradweave::evaluation
