// compile, simulate, cosim: layers on an NPU.
#include "python/bind.hpp"
#include "python/long_call.hpp"
#include "python/sources.hpp"

#include "app/report/json_report.hpp"
#include "app/report/page/run_page.hpp"
#include "app/request/run_request.hpp"
#include "app/session/compile_summary.hpp"
#include "app/session/stream_directory.hpp"
#include "base/file/output_file.hpp"
#include "base/process/parallel.hpp"
#include "compiler/ahead/plans_ahead.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/simulation.hpp"
#include "trace/command_label.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include <chrono>
#include <memory>
#include <optional>

namespace gradweave::python {
namespace {

using compiler::Compiled;
using Json = nlohmann::ordered_json;
using runtime::RunOptions;
using runtime::RunResult;

constexpr std::uint64_t kMostThreads = 4096;

void take_run(Options &options, cli::RunRequest &request) {
  take_work(options, request.work);
  options.take("jobs", request.jobs, 1, kMostThreads);
  options.take("times", request.times);
  options.take("timeline", request.timeline);
  request.quiet = true;
}

/// The report of a run that ended well. The page, if one is asked for, is written however it ended.
Json passed(const RunOptions &options, const RunResult &run, std::optional<OutputFile> &page) {
  Json report = runtime::report_json(options, run);
  if (page) page->commit(report::run_page(report));
  if (run.outcome != runtime::Outcome::kPass)
    throw FailedRun(fmt::format("{}: {}", runtime::to_string(run.outcome), fmt::join(run.failures, "\n")),
                    std::move(report));
  return report;
}

/// What no command can repeat has no command that repeats it.
void name_run(RunOptions &options, const ModelSource &model, const NpuSource &npu) {
  if (model.is_object() || npu.is_object()) options.reproduce.clear();
}

/// The commands of a layer, and when each was issued, started and done.
struct LayerTimes {
  std::string layer, schedule;
  std::uint64_t cycles = 0;
  std::vector<timing::CommandTimes> times;
  std::vector<runtime::CommandLabel> labels;
};
static_assert(sizeof(timing::CommandTimes) == 3 * sizeof(std::uint64_t));

RunResult simulate_here(const RunOptions &options, const SignalGuard &signals, std::vector<LayerTimes> *kept) {
  runtime::SimulationEvents events;
  events.layer_done = [](const std::vector<runtime::JobResult> &) {};
  if (kept != nullptr)
    events.times = [kept](const runtime::JobSpec &spec, const Compiled &compiled,
                          const std::vector<timing::CommandTimes> &times, std::uint64_t cycles) {
      LayerTimes &layer = kept->emplace_back();
      layer.layer = spec.layer().name;
      layer.schedule = compiler::to_string(spec.compile.schedule);
      layer.cycles = cycles;
      layer.times = times;
      for (std::size_t i = 0; i < compiled.stream.size(); ++i)
        layer.labels.push_back(runtime::label_command(spec.layer().name, compiled.stream[i],
                                                      i < compiled.info.size() ? &compiled.info[i] : nullptr));
    };
  return runtime::simulate(options, {}, signals, events);
}

Json simulate_and_keep(py::handle model, py::handle npu, py::dict given, std::vector<LayerTimes> *kept) {
  const ModelSource network(model);
  const NpuSource machine(npu);
  Options options(std::move(given));
  cli::SimulateRequest request;
  take_run(options, request);
  std::string html;
  options.take("html", html);
  options.done();
  request.work.model = network.name();
  request.work.npu = machine.name();
  Json report;
  run_long([&](const SignalGuard &signals) {
    const cli::Work work = resolve(request.work, network, machine);
    RunOptions run = cli::simulate_options(request, work);
    std::optional<OutputFile> page;
    if (!html.empty()) page.emplace(html);
    run.sketch = page.has_value();
    name_run(run, network, machine);
    const std::unique_ptr<compiler::PlanStore> plans = cli::plan_store(request.work);
    run.plans = plans.get();
    report = passed(run, simulate_here(run, signals, kept), page);
  });
  return report;
}

py::object simulate(py::handle model, py::handle npu, py::dict given) {
  return to_python(simulate_and_keep(model, npu, std::move(given), nullptr));
}

/// The type of their elements, made known to NumPy when it is first needed: loading that takes longer than many a run.
void name_times() {
  static const bool named = [] {
    PYBIND11_NUMPY_DTYPE(timing::CommandTimes, issue, start, done);
    return true;
  }();
  static_cast<void>(named);
}

/// Each layer's commands as arrays, beside the report.
py::tuple timeline(py::handle model, py::handle npu, py::dict given) {
  std::vector<LayerTimes> kept;
  const Json report = simulate_and_keep(model, npu, std::move(given), &kept);
  name_times();
  py::list layers;
  for (LayerTimes &layer : kept) {
    py::list engines, labels;
    for (const runtime::CommandLabel &label : layer.labels) {
      engines.append(label.engine);
      labels.append(label.text());
    }
    const auto count = static_cast<py::ssize_t>(layer.times.size());
    layers.append(py::dict(py::arg("name") = layer.layer, py::arg("schedule") = layer.schedule,
                           py::arg("cycles") = layer.cycles, py::arg("engines") = engines, py::arg("commands") = labels,
                           py::arg("times") = array_owning<timing::CommandTimes>(std::move(layer.times), {count})));
  }
  return py::make_tuple(to_python(report), layers);
}

cli::CosimRequest cosim_request(py::dict given, std::string &html) {
  Options options(std::move(given));
  cli::CosimRequest request;
  options.take("html", html);
  take_run(options, request);
  options.take("backend", request.backend);
  options.take("data", request.data);
  options.take("seed", request.seed, 0, ~std::uint64_t{0});
  options.take("stall_probability", request.stall_probability, 0, 0.99);
  options.take("stress_seed", request.stress_seed, 0, ~std::uint64_t{0});
  options.take("trace_file", request.trace_file);
  options.take("trace_from", request.trace_from, 0, ~std::uint64_t{0});
  options.take("trace_to", request.trace_to, 0, ~std::uint64_t{0});
  options.done();
  return request;
}

py::object cosim(py::handle model, py::handle npu, py::dict given) {
  const ModelSource network(model);
  const NpuSource machine(npu);
  std::string html;
  cli::CosimRequest request = cosim_request(std::move(given), html);
  request.work.model = network.name();
  request.work.npu = machine.name();
  Json report;
  run_long([&](const SignalGuard &signals) {
    const cli::Work work = resolve(request.work, network, machine);
    RunOptions run = cli::cosim_options(request, work);
    name_run(run, network, machine);
    std::optional<OutputFile> page;
    if (!html.empty()) page.emplace(html);
    run.sketch = page.has_value() && runtime::has_time(run.backend);
    if (run.backend == runtime::Backend::kRtl) machine.require_rtl(work.npu);
    const std::unique_ptr<compiler::PlanStore> plans = cli::plan_store(request.work);
    run.plans = plans.get();
    runtime::RunSupport support;
    support.expected = runtime::estimate(runtime::job_specs(run), runtime::built_in_speed(run.config, run.backend));
    report = passed(run, runtime::run_all(run, support, signals, [](const std::vector<runtime::JobResult> &) {}), page);
  });
  return to_python(report);
}

/// Layers that were compiled: Compilation of Python.
struct Compilation {
  Json summary;
  std::vector<Compiled> layers;
};

std::shared_ptr<Compilation> compile(py::handle model, py::handle npu, py::dict given) {
  const ModelSource network(model);
  const NpuSource machine(npu);
  Options options(std::move(given));
  cli::WorkArguments arguments;
  take_work(options, arguments);
  options.done();
  const compiler::Schedule schedule = compiler::parse_schedule(arguments.schedule);
  auto result = std::make_shared<Compilation>();
  run_long([&](const SignalGuard &signals) {
    const cli::Work work = cli::layer_by_layer(resolve(arguments, network, machine));
    const std::unique_ptr<compiler::PlanStore> plans = cli::plan_store(arguments);
    compiler::CompileCache cache;
    cache.plans.store = plans.get();
    std::vector<compiler::PlansAhead::Compilation> compilations;
    for (const compiler::Layer &layer : work.layers)
      compilations.push_back({compiler::compiled_as(layer, schedule, work.npu), work.npu, work.compile_as(schedule)});
    compiler::PlansAhead ahead(compilations, cache, usable_cores());
    while (!ahead.wait(std::chrono::milliseconds(100)))
      signals.check();
    result->summary = {{"network", work.network.name}, {"npu", work.npu.name}, {"layers", Json::array()}};
    for (const auto &compilation : compilations) {
      signals.check();
      result->layers.push_back(compiler::compile(compilation.layers, work.npu, compilation.options, cache));
      result->summary["layers"].push_back(cli::compiled_json(result->layers.back()));
    }
  });
  return result;
}

/// The commands of a layer where they lie; the array keeps the compilation alive.
py::array stream_of(const std::shared_ptr<Compilation> &self, std::size_t layer) {
  if (layer >= self->layers.size())
    throw py::index_error("there are " + std::to_string(self->layers.size()) + " layers");
  const std::vector<isa::Command> &stream = self->layers[layer].stream;
  py::array view(py::dtype::of<std::uint32_t>(),
                 {static_cast<py::ssize_t>(stream.size()), static_cast<py::ssize_t>(isa::kCommandWords)},
                 stream.empty() ? nullptr : stream.front().words.data(), py::cast(self));
  view.attr("setflags")(py::arg("write") = false); // what was verified stays
  return view;
}

void write_streams(const Compilation &self, py::handle directory, bool listing) {
  cli::StreamDirectory streams(text_of("directory", directory));
  for (const Compiled &compiled : self.layers)
    streams.add(compiled, listing);
  streams.commit();
}

} // namespace

void bind_runs(py::module_ &module) {
  py::class_<Compilation, std::shared_ptr<Compilation>>(
      module, "Compilation",
      "What compile() found: `summary`, the layers' streams as arrays, and how many layers there are.")
      .def_property_readonly("summary", [](const Compilation &c) { return to_python(c.summary); })
      .def("__len__", [](const Compilation &c) { return c.layers.size(); })
      .def("stream", &stream_of, py::arg("layer"),
           "The commands of a layer: uint32, [commands, 16], not copied, read-only.")
      .def("write", &write_streams, py::arg("directory"), py::arg("listing") = false,
           "Writes INDEX-LAYER.gws files, and listings of the commands as text.");
  module.def("compile", &compile);
  module.def("simulate", &simulate);
  module.def("timeline", &timeline);
  module.def("cosim", &cosim);
}

} // namespace gradweave::python
