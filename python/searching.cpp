// search and weave: plans for whole steps, and for several networks at once.
#include "python/bind.hpp"
#include "python/long_call.hpp"
#include "python/sources.hpp"

#include "app/report/page/search_page.hpp"
#include "app/session/search_session.hpp"
#include "app/session/weave_session.hpp"
#include "base/file/output_file.hpp"
#include "compiler/request/names.hpp"
#include "runtime/record/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <pybind11/stl.h>

#include <optional>

namespace gradweave::python {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostPlans = 1U << 30U;

void fail_unless_passed(const runtime::JobResult &result, const Json &report) {
  if (result.outcome != runtime::Outcome::kPass)
    throw FailedRun(fmt::format("{}: {}", runtime::to_string(result.outcome), fmt::join(result.failures, "\n")),
                    report);
}

cli::SearchRequest search_request(py::dict given, std::string &html) {
  Options options(std::move(given));
  cli::SearchRequest request;
  options.take("html", html);
  take_files(options, request.work);
  request.work.pass = "both";
  options.take("pass_", request.work.pass);
  options.take("layers", request.work.layers);
  take_convolution(options, request.work.convolution);
  options.take("plans", request.plans, 1, kMostPlans);
  options.take("step_plans", request.step_plans, 0, ~std::uint64_t{0});
  options.take("start", request.start);
  options.take("weave_again", request.weave_again);
  std::string objective(compiler::to_string(request.objective));
  options.take("objective", objective);
  request.objective = compiler::parse_objective(objective);
  options.take("check", request.backend);
  options.take("data", request.data);
  options.take("seed", request.seed, 0, ~std::uint64_t{0});
  options.done();
  return request;
}

/// Runs the step with data.
runtime::JobResult check(const cli::SearchRequest &request, const cli::Work &work,
                         const evaluation::NetworkSearch &found, const SignalGuard &signals) {
  runtime::JobEvents events;
  events.progress = [&](std::uint64_t, std::uint64_t) { signals.check(); };
  return runtime::run_job(cli::step_job(request, work, found), found.step, events);
}

py::object search(py::handle model, py::handle npu, py::dict given) {
  const ModelSource network(model);
  const NpuSource machine(npu);
  std::string html;
  cli::SearchRequest request = search_request(std::move(given), html);
  request.work.model = network.name();
  request.work.npu = machine.name();
  Json report;
  run_long([&](const SignalGuard &signals) {
    const cli::Work work = cli::in_one_stream(resolve(request.work, network, machine));
    cli::check_search(request);
    std::optional<OutputFile> page;
    if (!html.empty()) page.emplace(html);
    if (!request.backend.empty() && runtime::parse_backend(request.backend) == runtime::Backend::kRtl)
      machine.require_rtl(work.npu);
    const evaluation::NetworkSearch found =
        cli::search_network(request, work, [&](std::uint64_t, std::uint64_t) { signals.check(); });
    report = cli::search_json(request, work, found);
    if (network.is_object() || machine.is_object()) report["reproduce"] = "";
    std::optional<runtime::JobResult> checked;
    if (!request.backend.empty()) checked = check(request, work, found, signals);
    if (checked) report["check"] = runtime::to_json(*checked);
    if (page) page->commit(report::search_page(report));
    if (checked) fail_unless_passed(*checked, report);
  });
  return to_python(report);
}

py::object weave(const std::vector<std::string> &jobs, py::handle npu, py::dict given) {
  const NpuSource machine(npu);
  Options options(std::move(given));
  cli::WeaveRequest request;
  request.jobs = jobs;
  request.npu = machine.name();
  options.take_settings("set", request.set);
  options.take("policy", request.policy);
  options.take("backend", request.backend);
  options.take("data", request.data);
  options.take("seed", request.seed, 0, ~std::uint64_t{0});
  options.take("plans", request.plans, 1, 1U << 20U);
  options.take("changes", request.changes, 0, kMostPlans);
  options.take("search_seed", request.search_seed, 0, ~std::uint64_t{0});
  options.take("threads", request.threads, 1, 1024);
  take_convolution(options, request.convolution);
  options.done();
  Json report;
  run_long([&](const SignalGuard &signals) {
    const runtime::WovenRequest woven = cli::woven_request(request, machine.read(request.set));
    if (woven.backend == runtime::Backend::kRtl) machine.require_rtl(woven.npu);
    runtime::WovenEvents events;
    events.progress = [&](const std::string &, double) { signals.check(); };
    const runtime::WovenRun run = runtime::run_woven(woven, events);
    report = cli::woven_json(woven, run, machine.is_object() ? std::string() : cli::reproduce(request));
    fail_unless_passed(run.result, report);
  });
  return to_python(report);
}

} // namespace

void bind_search(py::module_ &module) {
  module.def("search", &search);
  module.def("weave", &weave);
}

} // namespace gradweave::python
