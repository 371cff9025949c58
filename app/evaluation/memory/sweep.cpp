#include "app/evaluation/memory/sweep.hpp"

#include "base/key/fingerprint.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "memory_model/iteration/from_graph.hpp"
#include "memory_model/placement.hpp"
#include "memory_tool_version.hpp"
#include "runtime/run/lookup.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

namespace gradweave::evaluation::memory {
namespace {

using Json = nlohmann::json;
namespace model = memory_model;

/// Seconds of one estimate, of plans, and of reading a network: very roughly.
constexpr double kEstimateSeconds = 2e-3, kPlanSeconds = 2e-2, kReadSeconds = 0.2;

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.
Fingerprint fingerprint(const Subject &subject) {
  const auto &[name, batch, separate] = subject;
  return Fingerprint().add(file_fingerprint(runtime::find_model(name)), batch, separate, kMemoryToolVersion);
}

std::string key_of(const SweepSpec &spec) {
  const auto &[subject, policy, sweep, bounds] = spec;
  const auto &[capacities, bandwidth, throughput, reading] = sweep;
  const auto &[large, bus, prefetch] = reading;
  return Fingerprint()
      .add("memory sweep", fingerprint(subject), policy, capacities, bandwidth, throughput, large, bus, prefetch,
           bounds)
      .hex();
}

graph::Graph read(const Subject &subject) {
  return compiler::load_graph(runtime::find_model(subject.model), compiler::NetworkSettings(subject.batch));
}

model::Iteration iteration_of(const graph::Graph &graph, const Subject &subject) {
  model::IterationOptions options;
  options.separate_layers = subject.separate_layers;
  return model::iteration_of(graph, graph::operators(), options);
}

std::string run(const SweepSpec &spec) {
  Json points = Json::array();
  try {
    const model::Iteration iteration =
        model::iteration_for(spec.policy, iteration_of(read(spec.subject), spec.subject));
    const std::vector<model::Estimate> estimates = model::estimate(spec.policy, iteration, spec.sweep);
    const model::Uses uses(iteration);
    model::Planner planner(iteration, uses);
    const bool bounded = spec.bounds && iteration.steps.size() <= model::Planner::kMostSteps;
    for (std::size_t i = 0; i < estimates.size(); ++i) {
      const model::Estimate &e = estimates[i];
      points.push_back({e.seconds, e.compute_seconds, e.bytes_in, e.bytes_out, model::type_two_share(iteration, e),
                        bounded ? planner.least_traffic(spec.sweep.capacities[i]) : 0,
                        model::seconds_by_layer(iteration, e)});
    }
  } catch (const std::invalid_argument &error) {
    return Json{{"problem", error.what()}}.dump();
  }
  return Json{{"points", points}}.dump();
}

/// Steps of so much of the largest one's bytes are as large: scales and shifts make them differ a little.
constexpr double kAsLarge = 0.99;

struct Needs {
  std::uint64_t largest = 0, passing_least = 0, passing_most = 0;
};

/// All tensors of the largest steps (section 3.3.2), and what passes them by on the same way, forwards or back: results
/// and gradients that a later layer of a block reads (section 3.3.3).
Needs needs(const model::Iteration &iteration) {
  const model::Uses uses(iteration);
  std::vector<std::int64_t> passing(iteration.steps.size() + 1);
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const std::uint32_t next = uses.next[a];
    if (next == model::kNever || iteration.tensors[uses.what[a].tensor].weight) continue;
    const std::uint32_t from = uses.step[a], to = uses.step[next];
    if (iteration.steps[from].backward != iteration.steps[to].backward) continue;
    passing[from + 1] += static_cast<std::int64_t>(iteration.tensors[uses.what[a].tensor].bytes);
    passing[to] -= static_cast<std::int64_t>(iteration.tensors[uses.what[a].tensor].bytes);
  }
  Needs found{0, UINT64_MAX, 0};
  for (const model::Step &step : iteration.steps)
    found.largest = std::max(found.largest, model::footprint(iteration, step));
  std::int64_t now = 0;
  for (std::size_t s = 0; s < iteration.steps.size(); ++s) {
    now += passing[s];
    const auto own = static_cast<double>(model::footprint(iteration, iteration.steps[s]));
    const auto beside = static_cast<std::uint64_t>(now);
    if (own < kAsLarge * static_cast<double>(found.largest)) continue;
    found.passing_least = std::min(found.passing_least, beside);
    found.passing_most = std::max(found.passing_most, beside);
  }
  return found;
}

std::string describe(const Subject &subject) {
  const graph::Graph graph = read(subject);
  const model::Iteration iteration = iteration_of(graph, subject);
  double parameters = 0;
  for (const graph::Tensor &tensor : graph.tensors)
    if (tensor.role == graph::Role::kParameter) parameters += static_cast<double>(tensor.shape.elements());
  double weights = 0, weights_touched = 0, touched = 0;
  for (const model::Tensor &tensor : iteration.tensors)
    if (tensor.weight && tensor.in_memory) weights += static_cast<double>(tensor.bytes);
  std::uint64_t smallest = UINT64_MAX, largest = 0;
  std::set<std::tuple<std::string, bool, double>> kinds;
  for (const model::Step &step : iteration.steps) {
    for (const model::Access &access : step.accesses) {
      const auto bytes = static_cast<double>(iteration.tensors[access.tensor].bytes);
      touched += bytes;
      weights_touched += iteration.tensors[access.tensor].weight ? bytes : 0;
    }
    kinds.emplace(step.layer, step.product, model::reuse_frequency(iteration, step));
    if (step.backward || !step.product || step.layer.find("Conv") == std::string::npos) continue;
    for (const model::Access &access : step.accesses)
      if (access.writes) {
        smallest = std::min(smallest, iteration.tensors[access.tensor].bytes);
        largest = std::max(largest, iteration.tensors[access.tensor].bytes);
      }
  }
  Json list = Json::array();
  for (const auto &[layer, product, frequency] : kinds)
    list.push_back({layer, product, frequency});
  const Needs need = needs(iteration);
  return Json{{"parameters", parameters},
              {"operations", iteration.operations()},
              {"steps", iteration.steps.size()},
              {"least_capacity", model::least_capacity(iteration)},
              {"weights", weights},
              {"weight_share", weights_touched / touched},
              {"largest_step", need.largest},
              {"passing_least", need.passing_least},
              {"passing_most", need.passing_most},
              {"smallest_map", largest == 0 ? 0 : smallest},
              {"largest_map", largest},
              {"kinds", list}}
      .dump();
}

} // namespace

SweepResult sweep(Evaluations &evaluations, const SweepSpec &spec) {
  const bool plans = spec.policy == model::Policy::kRows || spec.policy == model::Policy::kFused;
  const double seconds =
      kReadSeconds + static_cast<double>(spec.sweep.capacities.size()) * (plans ? kPlanSeconds : kEstimateSeconds);
  const std::string text =
      evaluations.get(Work{key_of(spec), seconds, [spec](const std::function<void(double)> &) { return run(spec); }});
  SweepResult result;
  result.points.resize(spec.sweep.capacities.size());
  if (text.empty()) return result;
  const Json json = Json::parse(text);
  if (json.contains("problem")) {
    result.problem = json.at("problem").get<std::string>();
    return result;
  }
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const Json &p = json.at("points").at(i);
    result.points[i] = {
        p.at(0), p.at(1), p.at(2), p.at(3), p.at(4), p.at(5), p.at(6).get<std::map<std::string, double>>()};
  }
  return result;
}

NetworkFacts facts(Evaluations &evaluations, const Subject &subject) {
  const std::string key = Fingerprint().add("memory facts", fingerprint(subject)).hex();
  const std::string text = evaluations.get(
      Work{key, kReadSeconds, [subject](const std::function<void(double)> &) { return describe(subject); }});
  NetworkFacts found;
  if (text.empty()) return found;
  const Json json = Json::parse(text);
  found.parameters = json.at("parameters");
  found.operations = json.at("operations");
  found.steps = json.at("steps");
  found.least_capacity = json.at("least_capacity");
  found.weights = json.at("weights");
  found.weight_share = json.at("weight_share");
  found.largest_step = json.at("largest_step");
  found.passing_least = json.at("passing_least");
  found.passing_most = json.at("passing_most");
  found.smallest_map = json.at("smallest_map");
  found.largest_map = json.at("largest_map");
  for (const Json &kind : json.at("kinds"))
    found.kinds.push_back({kind.at(0), kind.at(1), kind.at(2)});
  return found;
}

} // namespace gradweave::evaluation::memory
