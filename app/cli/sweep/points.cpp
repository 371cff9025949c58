#include "app/cli/sweep/points.hpp"

#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/sweep/step_point.hpp"
#include "app/evaluation/unit/evaluate.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "app/report/plan_report.hpp"
#include "graph/ir/error.hpp"
#include "graph/layer_fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

namespace gradweave::cli {
namespace {

using sweep::Field;
using sweep::Point;
using sweep::Result;

/// Of what a point takes before its first layer.
constexpr double kPointSeconds = 0.002;

std::uint32_t batch_of(const std::string &text) {
  if (const std::string problem = check_whole_number(text); !problem.empty())
    throw std::invalid_argument("batch: " + problem);
  const std::uint64_t batch = std::stoull(text);
  if (batch == 0 || batch > kMostSamples)
    throw std::invalid_argument(fmt::format("batch: {} is not from 1 to {}", text, kMostSamples));
  return static_cast<std::uint32_t>(batch);
}

const compiler::OptionForm *find_form(const std::string &name) {
  const auto &forms = compiler::option_forms();
  const auto at = std::find_if(forms.begin(), forms.end(), [&](const auto &form) { return form.name == name; });
  return at == forms.end() ? nullptr : &*at;
}

void set_form(WorkArguments &arguments, const compiler::OptionForm &form, const std::string &text) {
  if (form.is_number()) {
    if (const std::string problem = check_whole_number(text); !problem.empty())
      throw std::invalid_argument(fmt::format("{}: {}", form.name, problem));
    if (const std::uint64_t value = std::stoull(text); value < form.least || value > form.most)
      throw std::invalid_argument(fmt::format("{}: {} is not from {} to {}", form.name, text, form.least, form.most));
  }
  arguments.compile[form.name] = text;
}

/// A point's work, and whether it is a whole step of training.
struct PointArguments : WorkArguments {
  bool step = false;
};

void set_field(PointArguments &arguments, const Field &field) {
  const auto &[name, text] = field;
  if (name.find('.') != std::string::npos)
    arguments.set.push_back(fmt::format("{}={}", name, text));
  else if (name == "model")
    arguments.model = text;
  else if (name == "npu")
    arguments.npu = text;
  else if (name == "schedule")
    arguments.schedule = text;
  else if (name == "pass")
    arguments.pass = text;
  else if (name == "layers")
    arguments.layers = text;
  else if (name == "until")
    arguments.until = text;
  else if (name == "step" && (text == "yes" || text == "no"))
    arguments.step = text == "yes";
  else if (name == "step")
    throw std::invalid_argument(fmt::format("step: '{}' is not yes or no", text));
  else if (name == "batch")
    arguments.batch = batch_of(text);
  else if (name == "convolution" && (text == "image" || text == "im2col"))
    arguments.convolution = text;
  else if (name == "convolution")
    throw std::invalid_argument(fmt::format("convolution: '{}' is not image or im2col", text));
  else if (const compiler::OptionForm *form = find_form(name))
    set_form(arguments, *form, text);
  else
    throw std::invalid_argument(
        fmt::format("there is no field '{}'; use npu.KEY, memory.KEY, energy.KEY, net.KEY, or one of: {}", name,
                    fmt::join(option_fields(), ", ")));
}

PointArguments arguments_of(const Point &point) {
  PointArguments arguments;
  for (const Field &field : point)
    set_field(arguments, field);
  return arguments;
}

/// What a network depends on.
std::string network_key(const WorkArguments &arguments) {
  const Settings settings = parse_settings(arguments.set);
  std::string key = fmt::format("{}\n{}\n{}", arguments.model, arguments.batch, arguments.until);
  for (const auto &[name, value] : settings.network.values)
    key += fmt::format("\n{}={}", name, value);
  return key;
}

Fingerprint shapes(const std::vector<compiler::Layer> &layers) {
  std::vector<Fingerprint> all;
  for (const compiler::Layer &layer : layers)
    all.push_back(compiler::shape_fingerprint(layer));
  return Fingerprint().add(all);
}

/// Seconds that the layers take to compile: equal ones are compiled once.
double estimate(const Work &work, compiler::Schedule schedule) {
  double seconds = kPointSeconds;
  std::set<std::string> seen;
  for (const compiler::Layer &layer : work.layers) {
    if (!seen.insert(compiler::shape_fingerprint(layer).hex()).second) continue;
    if (layer.vector) continue; // nothing is searched
    evaluation::Unit unit{layer, work.npu, work.compile.pass, {}};
    unit.variant.schedule = schedule;
    unit.variant.plans = work.compile.plans;
    seconds += evaluation::estimated_seconds(unit);
  }
  return seconds;
}

void add_layer(const compiler::Compiled &compiled, Result &result, AccessCounts &accesses) {
  accesses += compiled.accesses;
  result["cycles"] += static_cast<double>(compiled.predicted_cycles);
  result["bound"] += static_cast<double>(compiled.bounds.run_cycles);
  result["compute_bound"] += static_cast<double>(compiled.bounds.compute_cycles);
  result["traffic_bound"] += static_cast<double>(compiled.bounds.traffic_cycles);
  result["macs"] += static_cast<double>(compiled.useful_macs);
  for (const compiler::LayerTraffic &layer : compiled.traffic)
    for (const compiler::Traffic &tensor : layer) {
      result["dram_read_bytes"] += static_cast<double>(tensor.read_bytes);
      result["dram_write_bytes"] += static_cast<double>(tensor.write_bytes);
      result["spill_bytes"] += static_cast<double>(tensor.spill_read_bytes + tensor.spill_write_bytes);
    }
}

Result refused(const std::string &problem) {
  Result result;
  result.outcome = sweep::Outcome::kInfeasible;
  result.problem = problem;
  return result;
}

Result evaluate(const Work &work, compiler::Schedule schedule) {
  Result result;
  compiler::CompileOptions options = work.compile_as(schedule);
  options.stream = false; // cycles and traffic are the same without
  compiler::CompileCache cache;
  AccessCounts accesses;
  try {
    for (const compiler::Layer &layer : work.layers)
      add_layer(compiler::compile(compiler::compiled_as(layer, schedule, work.npu), work.npu, options, cache), result,
                accesses);
  } catch (const compiler::CompilerDefect &) {
    throw;
  } catch (const compiler::CompileError &error) {
    return refused(error.what());
  }
  result["layer_count"] = static_cast<double>(work.layers.size());
  add_machine(work.npu, accesses, result);
  return result;
}

/// The points of a study, one by one.
class Maker {
public:
  void add(const Point &point) {
    std::string key;
    try {
      key = add_work(point);
      note(point, nullptr);
    } catch (const std::exception &error) {
      if (!is_users(error)) throw;
      note(point, std::current_exception());
      key = Fingerprint().add("refused", to_text(point), evaluation::tool_version()).hex();
      const std::string problem = error.what();
      if (keys_.insert(key).second)
        made_.work.push_back({key, to_text(point), 0, [problem] { return refused(problem); }});
    }
    made_.points.push_back({key, point});
  }

  Points take() {
    for (const auto &[field, problem] : problems_)
      if (possible_.count(field) == 0) std::rethrow_exception(problem);
    return std::move(made_);
  }

private:
  using Networks = std::map<std::string, std::shared_ptr<const compiler::Network>>;

  static bool is_users(const std::exception &error) {
    return dynamic_cast<const ConfigError *>(&error) != nullptr ||
           dynamic_cast<const std::invalid_argument *>(&error) != nullptr ||
           dynamic_cast<const compiler::CompileError *>(&error) != nullptr ||
           dynamic_cast<const graph::GraphError *>(&error) != nullptr;
  }

  /// Which values occur in points that can be made, and which in others.
  void note(const Point &point, const std::exception_ptr &problem) {
    for (const auto &[name, value] : point) {
      const std::string field = fmt::format("{}={}", name, value);
      if (problem)
        problems_.emplace(field, problem);
      else
        possible_.insert(field);
    }
  }

  std::shared_ptr<const compiler::Network> network(const WorkArguments &arguments) {
    std::shared_ptr<const compiler::Network> &known = networks_[network_key(arguments)];
    if (known) return known;
    known = std::make_shared<const compiler::Network>(resolve_network(arguments));
    if (const std::string left = runtime::not_counted(*known); !left.empty()) {
      const std::string note = fmt::format("{}: not counted: {}, and all that is no product; --step has the whole step",
                                           arguments.model, left);
      if (std::count(made_.notes.begin(), made_.notes.end(), note) == 0) made_.notes.push_back(note);
    }
    return known;
  }

  std::string add_work(const Point &point) {
    const PointArguments given = arguments_of(point);
    const WorkArguments &arguments = given;
    if (given.step) {
      sweep::Work work = step_work(arguments, to_text(point));
      if (keys_.insert(work.key).second) made_.work.push_back(work);
      return work.key;
    }
    const std::shared_ptr<const compiler::Network> network = this->network(arguments);
    const Work work = layer_by_layer(resolve(arguments, *network));
    const compiler::Schedule schedule = compiler::parse_schedule(arguments.schedule);
    std::string key = Fingerprint()
                          .add("point", shapes(work.layers), fingerprint(work.npu), fingerprint(work.npu.energy),
                               work.npu.clock_ghz, fingerprint(work.compile_as(schedule)), evaluation::tool_version())
                          .hex();
    if (keys_.insert(key).second)
      made_.work.push_back({key, to_text(point), estimate(work, schedule), [arguments, network, schedule] {
                              return evaluate(layer_by_layer(resolve(arguments, *network)), schedule);
                            }});
    return key;
  }

  Points made_;
  Networks networks_;
  std::set<std::string> keys_, possible_;
  std::map<std::string, std::exception_ptr> problems_; ///< of values, that of the first point
};

} // namespace

const std::vector<std::string> &option_fields() {
  static const std::vector<std::string> fields = [] {
    std::vector<std::string> all{"model", "npu", "schedule", "pass", "batch", "convolution", "layers", "until", "step"};
    for (const compiler::OptionForm &form : compiler::option_forms())
      all.emplace_back(form.name);
    return all;
  }();
  return fields;
}

const std::vector<std::string> &path_fields() {
  static const std::vector<std::string> fields{"model", "npu"};
  return fields;
}

std::string help_of_field(const std::string &name) {
  if (const compiler::OptionForm *form = find_form(name)) return form->help;
  static const std::map<std::string, std::string> helps{
      {"model", "Networks: names (gradweave models) or paths of .graph, .onnx, .toml or .csv files"},
      {"npu", "NPUs: names or paths of .toml files"},
      {"schedule", "Schedules (gradweave help simulate)"},
      {"pass", help_of_pass()},
      {"batch", "Samples in a batch; default: as the network says"},
      {"convolution", "What convolutions read, image or im2col"},
      {"layers", "Layers as simulate takes them, one selection: its ',' is part of it"},
      {"step", "Whether points are whole training steps, as of simulate --step: yes or no"},
      {"until", "Ops, nodes or tensors that a .graph or .onnx network ends with"}};
  return helps.at(name);
}

std::string usual_value(const std::string &name) {
  // A fifth of the plans takes a half to a third of the time, and cycles differ by about 1 % (docs/sweeps.md).
  constexpr const char *kPlans = "60";
  const WorkArguments usual;
  static const std::map<std::string, std::string> values{{"model", usual.model}, {"npu", usual.npu}, {"plans", kPlans}};
  const auto at = values.find(name);
  return at == values.end() ? std::string() : at->second;
}

Points make_points(const sweep::Study &study) {
  Maker maker;
  for (const Point &point : points_of(study))
    maker.add(point);
  return maker.take();
}

} // namespace gradweave::cli
