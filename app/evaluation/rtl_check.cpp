#include "app/evaluation/rtl_check.hpp"

#include "base/file/json_field.hpp"
#include "base/key/fingerprint.hpp"
#include "base/process/progress.hpp"
#include "runtime/job/job.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace gradweave::evaluation {
namespace {

using Json = nlohmann::ordered_json;

/// Of each unit what its check depends on, the NPU's library included.
std::vector<std::string> keys_of(const std::vector<RtlUnit> &units) {
  std::map<std::string, std::optional<Fingerprint>> libraries; // of an NPU
  std::vector<std::string> keys;
  for (const RtlUnit &unit : units) {
    const auto [library, is_new] = libraries.try_emplace(unit.npu.name);
    if (is_new) {
      try {
        library->second = file_fingerprint(find_rtl_library(unit.npu));
      } catch (const std::runtime_error &) { // none: the run says so, and keeps nothing
      }
    }
    keys.push_back(Fingerprint().add("rtl", library->second, unit.key).hex());
  }
  return keys;
}

/// Runs in the child process.
std::string run_unit(const RtlUnit &wanted, const std::function<void(double)> &progress) {
  const compiler::Compiled compiled = wanted.compile();
  runtime::JobSpec spec;
  spec.network = wanted.network;
  spec.layers = compiled.layers;
  spec.npu = wanted.npu;
  spec.compile.schedule = compiled.requested;
  runtime::JobEvents events;
  events.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress(static_cast<double>(done) / static_cast<double>(all));
  };
  const runtime::JobResult job = run_job(spec, compiled, events);
  const std::uint64_t model_cycles = wanted.known ? wanted.cycles : compiled.predicted_cycles;
  Json json{{"cycles", job.cycles()},
            {"model_cycles", model_cycles},
            {"elements", 0},
            {"problem", ""},
            {"unavailable", false}};
  std::uint64_t elements = 0;
  for (const runtime::OutputCheck &output : job.outputs)
    elements += output.elements;
  json["elements"] = elements;
  json["unavailable"] = job.outcome == runtime::Outcome::kUnavailable;
  if (!job.failures.empty())
    json["problem"] = job.failures.front();
  else if (job.cycles() != model_cycles)
    json["problem"] = fmt::format("{} cycles instead of {}", job.cycles(), model_cycles);
  return json.dump();
}

RtlCheck check_of(const RtlUnit &unit, const std::string &text) {
  const Json json = Json::parse(text);
  RtlCheck check;
  check.network = unit.network;
  check.layer = unit.layer;
  check.variant = unit.variant;
  check.model_cycles = whole_number<std::uint64_t>(json.at("model_cycles"));
  check.rtl_cycles = whole_number<std::uint64_t>(json.at("cycles"));
  check.elements = whole_number<std::uint64_t>(json.at("elements"));
  check.problem = json.at("problem").get<std::string>();
  return check;
}

} // namespace

RtlRun run_on_rtl(const std::vector<RtlUnit> &units, unsigned jobs, bool quiet, ResultsFile &kept,
                  const SignalGuard &signals) {
  std::vector<Task> tasks;
  std::vector<double> weights;
  std::vector<std::size_t> order;
  for (const RtlUnit &unit : units) {
    tasks.emplace_back([&unit](const std::function<void(double)> &progress) { return run_unit(unit, progress); });
    weights.push_back(static_cast<double>(unit.cycles));
  }
  const std::vector<std::string> keys = keys_of(units);
  for (std::size_t i = 0; i < units.size(); ++i)
    if (kept.find(keys[i]) == nullptr) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(weights[b], a) < std::tie(weights[a], b); // the longest first
  });

  RtlRun run;
  std::map<std::size_t, std::string> results;
  ProgressDisplay display(weights, quiet);
  PoolEvents events;
  events.progress = [&](std::size_t task, double fraction) { display.update(task, fraction); };
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t task, const TaskEnd &end) {
    display.finish(task, units[task].network + " " + units[task].layer + " on the RTL");
    if (!end.completed) {
      results[task] = Json{{"cycles", 0},
                           {"model_cycles", units[task].cycles},
                           {"elements", 0},
                           {"problem", end.problem + "\n" + end.output}}
                          .dump();
      return true;
    }
    const Json json = Json::parse(end.result);
    if (json.at("unavailable").get<bool>()) {
      run.unavailable = json.at("problem").get<std::string>();
      return false;
    }
    if (json.at("problem").get<std::string>().empty()) kept.keep(keys[task], end.result);
    results[task] = end.result;
    return true;
  };
  run_tasks(tasks, order, jobs, signals, events);
  if (!run.unavailable.empty()) return run;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::string *passed = kept.find(keys[i]);
    run.checks.push_back(check_of(units[i], passed != nullptr ? *passed : results.at(i)));
  }
  return run;
}

} // namespace gradweave::evaluation
