#include "app/evaluation/unit/step_unit.hpp"
#include "app/evaluation/unit/unit_key.hpp"

#include "app/evaluation/unit/unit.hpp"
#include "base/file/json_field.hpp"
#include "base/key/fingerprint.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace gradweave::evaluation {
namespace {

using Json = nlohmann::ordered_json;

/// CPU time of a search, measured over the networks of igo_micro23: by product of array-sized tiles of the step, and
/// what it takes at most for each change of it, since changes are bounded by what they simulate.
constexpr double kProductSeconds = 1.5e-3, kChangeSeconds = 0.01;
constexpr double kKnownProductSeconds = 2e-5; ///< of plans that are timed only

/// Which layers share tensors; names do not matter.
Fingerprint topology_fingerprint(const std::vector<compiler::Layer> &layers) {
  const auto index = [&](const std::string &name) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (!name.empty() && layers[i].name == name) return i;
    return std::nullopt;
  };
  Fingerprint topology;
  for (const compiler::Layer &layer : layers)
    topology.add(index(layer.input), index(layer.x_of));
  return topology;
}

Fingerprint fingerprint_of(const std::vector<compiler::Layer> &layers) {
  Fingerprint all;
  all.add(layers.size());
  for (const compiler::Layer &layer : layers)
    all.add(compiler::shape_fingerprint(layer));
  return all.add(topology_fingerprint(layers));
}

NetworkSearch found_for(const StepUnit &unit, const std::function<void(double)> &progress) {
  if (!unit.plans.empty()) return known_network(unit.layers, unit.npu, unit.plans);
  SearchEffort effort = unit.effort;
  effort.paper = false;
  return search_network(unit.layers, unit.npu, compiler::Pass::kBoth, effort,
                        [&](std::uint64_t done, std::uint64_t of) {
                          if (progress) progress(static_cast<double>(done) / static_cast<double>(of));
                        });
}

} // namespace

std::string plans_key(const StepUnit &unit) {
  return Fingerprint().add("plans", fingerprint_of(unit.layers), fingerprint(unit.npu)).hex();
}

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.
std::string key_of(const StepUnit &unit, std::string_view tool) {
  const auto &[layers, npu, effort, plans, name, place] = unit; // the last two say nothing
  // Results do not hold the paper's scheme.
  const auto &[layer_plans, step_plans, start, objective, weave_again, paper] = effort;
  Fingerprint key;
  key.add("step", fingerprint_of(layers), plans);
  if (objective != compiler::Objective::kCycles) key.add(objective, fingerprint(npu.energy), npu.clock_ghz);
  return key.add(layer_plans, step_plans, start, weave_again, fingerprint(npu), tool).hex();
}

std::string to_text(const StepResult &r) {
  if (!r.problem.empty()) return Json{{"problem", r.problem}}.dump();
  return Json{{"bound", r.bound},
              {"conventional", r.conventional},
              {"searched", r.searched},
              {"above_bound", r.above_bound},
              {"step", r.step},
              {"compute_bound", r.compute_bound},
              {"traffic_bound", r.traffic_bound},
              {"conventional_tried", r.conventional_tried},
              {"conventional_bursts", r.conventional_bursts},
              {"step_tried", r.step_tried},
              {"step_bursts", r.step_bursts},
              {"array", r.array},
              {"memory", r.memory},
              {"plans", r.plans}}
      .dump();
}

StepResult step_from_text(const std::string &text) {
  StepResult r;
  try {
    const Json json = Json::parse(text);
    if (json.contains("problem")) {
      r.problem = json.at("problem").get<std::string>();
      return r;
    }
    for (const auto &[key, value] :
         {std::pair("bound", &r.bound), std::pair("conventional", &r.conventional), std::pair("searched", &r.searched),
          std::pair("step", &r.step), std::pair("compute_bound", &r.compute_bound),
          std::pair("traffic_bound", &r.traffic_bound), std::pair("conventional_tried", &r.conventional_tried),
          std::pair("conventional_bursts", &r.conventional_bursts), std::pair("step_tried", &r.step_tried),
          std::pair("step_bursts", &r.step_bursts), std::pair("array", &r.array), std::pair("memory", &r.memory)})
      *value = whole_number<std::uint64_t>(json.at(key));
    r.above_bound = json.at("above_bound").get<double>();
    r.plans = json.at("plans").get<std::string>();
  } catch (const Json::exception &error) {
    throw std::invalid_argument(fmt::format("not the result of a search: {}", error.what()));
  }
  return r;
}

StepResult evaluate(const StepUnit &unit, const std::function<void(double)> &progress) {
  StepResult result;
  const std::string known = unit.plans.empty() ? "" : ", in plans that are known; search again with --search";
  const std::string place = unit.place.empty() ? "" : unit.place + ": ";
  try {
    const NetworkSearch found = found_for(unit, progress);
    result.plans = unit.plans.empty() ? network_text(found, unit.npu, unit.effort) : unit.plans;
    result.bound = found.sum(&LayerSearch::bound);
    result.conventional = found.sum(&LayerSearch::conventional);
    result.searched = found.sum(&LayerSearch::searched);
    result.above_bound = found.mean_above_bound();
    result.step = found.step.predicted_cycles;
    result.compute_bound = found.step.bounds.compute_cycles;
    result.traffic_bound = found.step.bounds.traffic_cycles;
    result.conventional_tried = found.found.conventional_work.tried;
    result.conventional_bursts = found.found.conventional_work.bursts;
    result.step_tried = found.found.work.tried;
    result.step_bursts = found.found.work.bursts;
    result.array = found.step.compute_cycles;
    for (const auto &layer : found.step.traffic)
      for (const compiler::Traffic &traffic : layer)
        result.memory += traffic.read_bus_bytes + traffic.write_bus_bytes;
    result.memory = result.memory * unit.npu.memory.bytes_den / unit.npu.memory.bytes_num;
  } catch (const compiler::CompileError &error) {
    result.problem = place + error.what() + known;
  } catch (const std::invalid_argument &error) {
    if (unit.plans.empty()) throw;
    result.problem = place + error.what() + known;
  }
  return result;
}

double step_products(const std::vector<compiler::Layer> &layers, const Machine &npu) {
  const auto tiles = [](std::uint32_t extent, std::uint32_t side) {
    return static_cast<double>(compiler::divide_up(extent, side));
  };
  double products = 0;
  for (const compiler::Layer &l : layers)
    products += (l.dx ? 3.0 : 2.0) * tiles(l.m, npu.rows) * tiles(l.k, npu.lanes()) * tiles(l.n, npu.cols) * l.groups;
  return products;
}

double estimated_seconds(const StepUnit &unit) {
  if (!unit.plans.empty()) return kKnownProductSeconds * step_products(unit.layers, unit.npu);
  return std::min(kProductSeconds * step_products(unit.layers, unit.npu),
                  kChangeSeconds * static_cast<double>(unit.effort.step_plans));
}

} // namespace gradweave::evaluation
