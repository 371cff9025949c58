#include "app/cli/memory/memory_validation.hpp"

#include "app/cli/common/work.hpp"
#include "app/cli/memory/memory_range.hpp"
#include "app/evaluation/study/layer_study.hpp"
#include "app/validate/memory/comparison.hpp"
#include "base/file/output_file.hpp"
#include "base/process/parallel.hpp"
#include "base/process/process_pool.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <map>
#include <memory>

namespace gradweave::cli {
namespace {

using memory_model::kRungs;
using memory_model::Rung;
using runtime::Comparison;
using runtime::ErrorSize;
using runtime::MeasuredStep;
using runtime::Prediction;

/// A network on an NPU, by the options of a command of its own.
std::vector<WorkArguments> subjects(const MemoryValidation &a) {
  if (!a.work.model.empty() && !a.work.npu.empty()) return {a.work};
  const evaluation::LayerStudy study =
      evaluation::read_layer_study(evaluation::load_study(evaluation::find_study("igo")));
  std::vector<WorkArguments> all;
  for (const bool large : {false, true})
    for (const evaluation::StudyNetwork &network : study.networks) {
      WorkArguments work = a.work;
      if (work.model.empty()) work.model = large ? network.large : network.small;
      if (work.npu.empty()) work.npu = large ? study.large_npus.front() : study.small_npu;
      if (work.batch == 0) work.batch = large ? study.large_batch : study.small_batch;
      const bool known = std::any_of(all.begin(), all.end(), [&](const WorkArguments &other) {
        return other.model == work.model && other.npu == work.npu;
      });
      if (!known) all.push_back(work);
    }
  return all;
}

/// The same on each of the scratchpads and memories asked for.
std::vector<WorkArguments> on_machines(const MemoryValidation &a, const std::vector<WorkArguments> &works) {
  std::vector<WorkArguments> all;
  for (WorkArguments work : works) {
    if (a.bandwidth) work.set.push_back(fmt::format("memory.bandwidth_gb_s={}", *a.bandwidth));
    if (a.capacity.empty()) {
      all.push_back(work);
      continue;
    }
    for (const std::uint64_t bytes : parse_capacities(a.capacity)) {
      all.push_back(work);
      all.back().set.push_back(fmt::format("npu.spm_bytes={}", bytes));
    }
  }
  return all;
}

std::vector<MeasuredStep> measure(const MemoryValidation &a, const SignalGuard &signals) {
  const std::unique_ptr<compiler::PlanStore> store = plan_store(a.work);
  const compiler::Schedule schedule = compiler::parse_schedule(a.work.schedule);
  std::vector<MeasuredStep> steps;
  for (const WorkArguments &arguments : on_machines(a, subjects(a))) {
    const Work work = resolve(arguments);
    fmt::print(stderr, "gradweave: {} on {} ...\n", arguments.model, work.npu.name);
    steps.push_back(runtime::measure_step(arguments.model, work.layers, work.npu, work.compile_as(schedule),
                                          store.get(), usable_cores(), [&signals] { signals.check(); }));
  }
  return steps;
}

std::string percent(double error) { return fmt::format("{:+.1f} %", 100 * error); }

void print_steps(std::FILE *out, const std::vector<Comparison> &all) {
  fmt::print(out, "{:12} {:24} {:>13} {:>9} {:>9} {:>9} {:>12} {:>9} {:>9}\n", "network", "npu", "cycles", "time",
             "given", "elsewhere", "MB moved", "traffic", "elsewhere");
  for (const Comparison &c : all)
    fmt::print(out, "{:12} {:24} {:>13} {:>9} {:>9} {:>9} {:>12.2f} {:>9} {:>9}\n", c.step->name, c.step->npu.name,
               c.step->cycles, percent(c.cycles_error(c.model())), percent(c.cycles_error(c.given)),
               percent(c.cycles_error(c.elsewhere)), c.step->bytes() / 1e6, percent(c.bytes_error(c.model())),
               percent(c.bytes_error(c.elsewhere)));
}

struct Sizes {
  ErrorSize time, traffic;
};

template <typename Of> Sizes sizes(const std::vector<Comparison> &all, Of of) {
  Sizes s;
  for (const Comparison &c : all) {
    s.time.add(c.cycles_error(of(c)), all.size());
    s.traffic.add(c.bytes_error(of(c)), all.size());
  }
  return s;
}

/// What each part of the prediction is worth, by name.
std::vector<std::pair<std::string, Sizes>> all_sizes(const std::vector<Comparison> &all) {
  std::vector<std::pair<std::string, Sizes>> lines;
  for (const Rung rung : kRungs)
    lines.emplace_back(to_string(rung),
                       sizes(all, [rung](const Comparison &c) { return c.rungs[static_cast<std::size_t>(rung)]; }));
  lines.emplace_back("elsewhere", sizes(all, [](const Comparison &c) { return c.elsewhere; }));
  lines.emplace_back("given", sizes(all, [](const Comparison &c) { return c.given; }));
  return lines;
}

void print_sizes(std::FILE *out, const std::vector<Comparison> &all) {
  static const std::map<std::string, const char *> kWhat{
      {"roofline", "multiply-adds over the array's size; each tensor once"},
      {"blocks", "+ results in blocks of the array's size, that fill and drain"},
      {"accesses", "+ whole DRAM accesses, a row at a time"},
      {"tiles", "+ what does not stay in the scratchpad, and lines around tiles of images"},
      {"overlap", "+ what computing and moving do not hide, and starts: the model"},
      {"elsewhere", "the model, with constants fitted to the other networks"},
      {"given", "the model's time of what the stream moves"}};
  fmt::print(out, "\n{:10} {:>7} {:>7}   {:>7} {:>7}\n", "errors of", "time", "worst", "traffic", "worst");
  for (const auto &[name, s] : all_sizes(all))
    fmt::print(out, "{:10} {:>5.1f} % {:>5.1f} %   {:>5.1f} % {:>5.1f} %  {}\n", name, 100 * s.time.mean,
               100 * s.time.worst, 100 * s.traffic.mean, 100 * s.traffic.worst, kWhat.at(name));
}

std::string as_csv(const std::vector<Comparison> &all) {
  std::string text = "network,npu,cycles,bytes";
  for (const Rung rung : kRungs)
    text += fmt::format(",{0}_cycles,{0}_bytes", to_string(rung));
  text += ",elsewhere_cycles,elsewhere_bytes,given_cycles\n";
  for (const Comparison &c : all) {
    text += fmt::format("{},{},{},{}", c.step->name, c.step->npu.name, c.step->cycles, c.step->bytes());
    for (const Prediction &p : c.rungs)
      text += fmt::format(",{},{}", p.cycles, p.bytes);
    text += fmt::format(",{},{},{}\n", c.elsewhere.cycles, c.elsewhere.bytes, c.given.cycles);
  }
  return text;
}

std::string as_json(const std::vector<Comparison> &all, const memory_model::Calibration &fitted) {
  using Object = nlohmann::ordered_json;
  const memory_model::Calibration built_in;
  const auto constants = [](const memory_model::Calibration &c) {
    return Object{{"serial", c.serial}, {"exposed", c.exposed}};
  };
  Object json{{"constants", constants(built_in)}, {"fitted", constants(fitted)}, {"steps", Object::array()}};
  for (const Comparison &c : all) {
    const auto one = [&](const Prediction &p) { return Object{{"cycles", p.cycles}, {"bytes", p.bytes}}; };
    Object step{
        {"network", c.step->name}, {"npu", c.step->npu.name}, {"cycles", c.step->cycles}, {"bytes", c.step->bytes()}};
    for (const Rung rung : kRungs)
      step[std::string(to_string(rung))] = one(c.rungs[static_cast<std::size_t>(rung)]);
    step["elsewhere"] = one(c.elsewhere);
    step["given"] = one(c.given);
    json["steps"].push_back(std::move(step));
  }
  for (const auto &[name, s] : all_sizes(all))
    json["errors"][name] = {{"time_mean", s.time.mean},
                            {"time_worst", s.time.worst},
                            {"traffic_mean", s.traffic.mean},
                            {"traffic_worst", s.traffic.worst}};
  return json.dump(2) + "\n";
}

} // namespace

int validate_memory(const MemoryValidation &a, const SignalGuard &signals) {
  std::FILE *const out = uses_standard_output({{"--json", a.json}, {"--csv", a.csv}}) ? stderr : stdout;
  std::optional<OutputFile> json, csv;
  if (!a.json.empty()) json.emplace(a.json);
  if (!a.csv.empty()) csv.emplace(a.csv);
  const std::vector<MeasuredStep> steps = measure(a, signals);
  const auto [all, fitted] = runtime::compare(steps, usable_cores());
  print_steps(out, all);
  print_sizes(out, all);
  const memory_model::Calibration built_in;
  fmt::print(out, "\nconstants: serial {}, exposed {}; of these steps {} and {} fit best\n", built_in.serial,
             built_in.exposed, fitted.serial, fitted.exposed);
  if (json) json->commit(as_json(all, fitted));
  if (csv) csv->commit(as_csv(all));
  return kOk;
}

} // namespace gradweave::cli
