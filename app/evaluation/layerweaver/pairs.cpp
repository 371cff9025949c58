#include "app/evaluation/layerweaver/pairs.hpp"

#include "base/key/fingerprint.hpp"
#include "graph/frontend/load_network.hpp"
#include "layerweaver_tool_version.hpp"
#include "runtime/run/lookup.hpp"
#include "weave_model/weaver.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace gradweave::evaluation::layerweaver {
namespace {

using Json = nlohmann::json;
namespace model = weave_model;

/// Seconds of a pair under the paper's policies, and of one with tiles and leads: very roughly.
constexpr double kPairSeconds = 0.2, kBeyondSeconds = 2;
/// Requests that a model serves alone to see how long one of many takes.
constexpr std::uint32_t kAlone = 20;

// Every field is named, so that a new one does not compile until it is decided whether a result depends on it.
Fingerprint fingerprint(const model::Arrays &arrays) {
  const auto &[count, rows, cols, hertz, element_bytes, stationary] = arrays;
  return Fingerprint().add(count, rows, cols, hertz, element_bytes, stationary);
}

Fingerprint fingerprint(const WeaveNetwork &network) {
  const auto &[name, file, computes, tokens] = network;
  return Fingerprint().add(name, file_fingerprint(runtime::find_model(file)), computes, tokens);
}

Fingerprint fingerprint(const Scenario &scenario) {
  const auto &[name, of, machine, batch, tokens, buffer, rule] = scenario;
  const auto &[machine_name, arrays, bandwidth] = machine;
  const auto &[policy, idle, ties, lead] = rule;
  return Fingerprint().add(fingerprint(arrays), bandwidth, batch, tokens, buffer, policy, idle, ties, lead,
                           kLayerweaverToolVersion);
}

compiler::Network load(const WeaveNetwork &network, const Scenario &scenario) {
  compiler::NetworkSettings settings(scenario.batch);
  if (network.tokens) settings.values.emplace("sequence", std::to_string(scenario.tokens));
  return compiler::load_network(runtime::find_model(network.model), settings);
}

model::Job job_of(const WeaveNetwork &network, const Scenario &scenario) {
  model::Job job{model::profile_of(load(network, scenario), scenario.machine.arrays), 0};
  job.alone = model::alone_seconds(job.model, scenario.npu(), kAlone);
  return job;
}

std::string describe(const WeaveNetwork &network, const Scenario &scenario) {
  const compiler::Network loaded = load(network, scenario);
  const model::Npu npu = scenario.npu();
  const model::Job job = job_of(network, scenario);
  double operations = 0;
  std::uint64_t weights = 0;
  for (const compiler::Layer &layer : loaded.layers) {
    operations += compiler::macs(layer);
    weights += std::uint64_t{layer.groups} * layer.k * layer.n;
  }
  Json times = Json::array();
  const model::Outcome once = model::Weaver({job}, npu, {model::Policy::kOneByOne}).serve({{0}}, true);
  for (const model::Scheduled &s : once.order)
    times.push_back({s.effect.fetch_begin, s.effect.fetched, s.effect.compute_begin, s.effect.computed});
  return Json{{"layers", loaded.layers.size()},
              {"weights", weights},
              {"parameters", compiler::count_parameters(loaded)},
              {"multiply_adds", operations},
              {"compute", model::compute_seconds(job.model)},
              {"fetch", model::fetch_seconds(job.model, npu)},
              {"alone", job.alone},
              {"first", once.seconds},
              {"times", times}}
      .dump();
}

/// A pair on an NPU, and how much of it to run.
struct Pairing {
  std::vector<model::Job> jobs;
  model::Npu npu;
  Mix mix = Mix::kFree;
  double seconds = 0; ///< of each model alone, or of all

  std::vector<std::uint32_t> requests() const {
    std::vector<std::uint32_t> counts;
    for (const model::Job &job : jobs)
      counts.push_back(static_cast<std::uint32_t>(std::max(1L, std::lround(seconds / job.alone))));
    return counts;
  }
  PolicyResult run(const std::vector<model::Job> &parts, const model::Rule &rule) const {
    const model::Weaver weaver(parts, npu, rule);
    if (mix == Mix::kFree) return result(weaver.saturate(seconds));
    std::vector<model::Request> list;
    const std::vector<std::uint32_t> counts = requests();
    for (std::size_t m = 0; m < counts.size(); ++m)
      list.insert(list.end(), counts[m], model::Request{m});
    return result(weaver.serve(list));
  }
  PolicyResult run(const model::Rule &rule) const { return run(jobs, rule); }
  /// The best of all leads and ties.
  PolicyResult best(const std::vector<model::Job> &parts, const model::Rule &rule,
                    const std::vector<double> &leads) const {
    PolicyResult found{0, 0, 0};
    double longer = 0;
    for (const model::Job &job : jobs)
      longer = std::max(longer, job.alone);
    for (const double lead : leads)
      for (const model::Ties ties : {model::Ties::kFurthestBehind, model::Ties::kLeastAhead}) {
        const PolicyResult one = run(parts, {model::Policy::kBounded, rule.idle, ties, lead * longer});
        if (one.throughput > found.throughput) found = one;
      }
    return found;
  }

private:
  static PolicyResult result(const model::Outcome &outcome) {
    return {outcome.throughput(), outcome.compute_share(), outcome.fetch_share()};
  }
};

Json as_json(const PolicyResult &r) { return {r.throughput, r.compute, r.fetch}; }

std::string weave(const PairSpec &spec, const WeaveStudy &study) {
  const Scenario &scenario = spec.scenario;
  Pairing pairing{{job_of(spec.first, scenario), job_of(spec.second, scenario)}, scenario.npu(), spec.mix, 0};
  double compute = 0, fetch = 0;
  for (const model::Job &job : pairing.jobs) {
    pairing.seconds = std::max(pairing.seconds, study.repeats * job.alone);
    compute += model::compute_seconds(job.model) / job.alone / 2;
    fetch += model::fetch_seconds(job.model, pairing.npu) / job.alone / 2;
  }
  Json json{{"bound", 1 / std::max(compute, fetch)},
            {"compute", compute},
            {"fetch", fetch},
            {"round_robin", as_json(pairing.run({model::Policy::kRoundRobin}))},
            {"ai_mt", as_json(pairing.run({model::Policy::kAiMt}))},
            {"greedy", as_json(pairing.run(scenario.rule))}};
  if (!spec.beyond) return json.dump();
  json["bounded"] = as_json(pairing.best(pairing.jobs, scenario.rule, study.leads));
  std::vector<model::Job> tiles = pairing.jobs; // alone they take what they take by layers: so gains compare
  for (model::Job &job : tiles)
    job.model =
        model::tiled(job.model, {static_cast<std::uint64_t>(1024 * study.tile_kib), 1e-6 * study.tile_microseconds});
  json["tiles"] = as_json(pairing.best(tiles, scenario.rule, study.leads));
  return json.dump();
}

PolicyResult read(const Json &json, const char *policy) {
  const Json &r = json.at(policy);
  return {r.at(0), r.at(1), r.at(2)};
}

} // namespace

Facts Weavings::facts(const WeaveNetwork &network, const Scenario &scenario) const {
  const std::string key = Fingerprint().add("weave facts", fingerprint(network), fingerprint(scenario)).hex();
  const std::string text = evaluations_.get(
      Work{key, kPairSeconds, [=](const std::function<void(double)> &) { return describe(network, scenario); }});
  if (text.empty()) return {};
  const Json json = Json::parse(text);
  return {json.at("layers"),        json.at("weights"), json.at("parameters"),
          json.at("multiply_adds"), json.at("compute"), json.at("fetch"),
          json.at("alone"),         json.at("first"),   json.at("times").get<std::vector<std::array<double, 4>>>()};
}

PairResult Weavings::pair(const PairSpec &spec) const {
  const auto &[scenario, first, second, mix, beyond] = spec;
  Fingerprint key;
  key.add("weave pair", fingerprint(scenario), fingerprint(first), fingerprint(second), mix, beyond, study_.repeats);
  if (beyond) key.add(study_.leads, study_.tile_kib, study_.tile_microseconds);
  const std::string text = evaluations_.get(
      Work{key.hex(), beyond ? kBeyondSeconds : kPairSeconds,
           [spec, study = study_](const std::function<void(double)> &) { return weave(spec, study); }});
  PairResult result;
  if (text.empty()) return result;
  const Json json = Json::parse(text);
  result.round_robin = read(json, "round_robin");
  result.ai_mt = read(json, "ai_mt");
  result.greedy = read(json, "greedy");
  result.bound = json.at("bound");
  result.compute = json.at("compute");
  result.fetch = json.at("fetch");
  if (!beyond) return result;
  result.bounded = read(json, "bounded");
  result.tiles = read(json, "tiles");
  return result;
}

std::vector<std::pair<WeaveNetwork, WeaveNetwork>> Weavings::pairs() const {
  std::vector<std::pair<WeaveNetwork, WeaveNetwork>> all;
  for (const WeaveNetwork &first : study_.networks)
    for (const WeaveNetwork &second : study_.networks)
      if (first.computes && !second.computes) all.emplace_back(first, second);
  return all;
}

} // namespace gradweave::evaluation::layerweaver
