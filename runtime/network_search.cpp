#include "runtime/network_search.hpp"

#include "compiler/paper/paper.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gradweave::runtime {
namespace {

using compiler::CompiledLayer;
using compiler::CompileOptions;
using compiler::Layer;
using compiler::Pass;
using compiler::Schedule;

/// The paper's scheme: Algorithm 1 on the whole layer or on the parts of the best of the three partitionings.
std::uint64_t paper_cycles(const Layer &layer, const NpuConfig &npu, Pass pass) {
  std::uint64_t best = ~std::uint64_t{0};
  for (const compiler::Partition partition : compiler::all_partitions()) {
    compiler::paper::PaperOptions options;
    options.schedule = Schedule::kRearrange;
    options.pass = pass;
    options.stream = false;
    if (partition != compiler::Partition::kNone) options.cut = {partition, 2, compiler::Reduction::kChain};
    try {
      best = std::min(best, compiler::paper::compile_paper_layer(layer, npu, options).predicted_cycles);
    } catch (const compiler::CompileError &) {
      // The layer cannot be cut like this; the uncut one decides.
      if (partition == compiler::Partition::kNone) throw;
    }
    if (pass == Pass::kForward) break;
  }
  return best;
}

CompiledLayer searched(const Layer &layer, const NpuConfig &npu, Pass pass, Schedule schedule, std::uint64_t plans) {
  CompileOptions options;
  options.schedule = schedule;
  options.pass = pass;
  options.plans = plans;
  return compiler::compile_layer(layer, npu, options);
}

void add_pass(LayerSearch &l, const NpuConfig &npu, Pass pass, std::uint64_t plans) {
  const CompiledLayer conventional = searched(l.layer, npu, pass, Schedule::kSequential, plans);
  const CompiledLayer best =
      pass == Pass::kForward ? conventional : searched(l.layer, npu, pass, Schedule::kSearch, plans);
  l.bound += conventional.bounds.run_cycles;
  l.paper += paper_cycles(l.layer, npu, pass);
  l.conventional += conventional.predicted_cycles;
  l.searched += best.predicted_cycles;
  if (pass == Pass::kBackward) l.order = std::string(to_string(best.chosen));
}

} // namespace

std::uint64_t NetworkSearch::sum(std::uint64_t LayerSearch::*cycles) const {
  std::uint64_t total = 0;
  for (const LayerSearch &l : layers)
    total += l.*cycles;
  return total;
}

double NetworkSearch::mean_above_bound() const {
  double total = 0;
  for (const LayerSearch &l : layers)
    total += static_cast<double>(l.searched) / static_cast<double>(l.bound) - 1;
  return layers.empty() ? 0 : total / static_cast<double>(layers.size());
}

NetworkSearch search_network(const std::vector<Layer> &layers, const NpuConfig &npu, Pass pass,
                             const SearchEffort &effort, const SearchProgress &progress) {
  NpuConfig roomy = npu; // a whole step's tensors together, of which a layer at a time need be at hand
  roomy.dram.size_bytes = std::max(npu.dram.size_bytes, std::uint64_t{1} << 40U);
  NetworkSearch result;
  result.pass = pass;
  using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;
  std::map<Shape, LayerSearch> known;
  const std::uint64_t step_units = layers.size() + effort.step_plans;
  for (const Layer &layer : layers) {
    LayerSearch &l = known[{layer.m, layer.k, layer.n, layer.groups, layer.dx}];
    l.layer = layer;
    if (l.bound == 0)
      for (const Pass p : {Pass::kForward, Pass::kBackward})
        if (pass == Pass::kBoth || pass == p) add_pass(l, roomy, p, effort.layer_plans);
    result.layers.push_back(l);
    if (progress) progress(result.layers.size(), layers.size() + step_units);
  }
  compiler::StepOptions options;
  options.pass = pass;
  options.layer_plans = effort.layer_plans;
  options.step_plans = effort.step_plans;
  if (progress)
    options.progress = [&](std::uint64_t done, std::uint64_t of) {
      progress(layers.size() + done * step_units / of, layers.size() + step_units);
    };
  result.found = compiler::search_step(layers, roomy, options);
  result.step = compiler::compile_step_plan(layers, result.found.plans, pass, roomy);
  return result;
}

} // namespace gradweave::runtime
