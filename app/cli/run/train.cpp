// gradweave train
#include "app/cli/run/train_arguments.hpp"

#include "app/cli/common/report_files.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/work.hpp"
#include "app/page/line_chart.hpp"
#include "app/report/page/training_page.hpp"
#include "app/report/training_report.hpp"
#include "app/session/system_report.hpp"
#include "base/file/output_file.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "graph/tensor_file/tensor_file.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

namespace gradweave::cli {
namespace {

using namespace runtime::train;

runtime::Backend backend_of(const std::string &name) {
  try {
    return runtime::parse_backend(name);
  } catch (const std::invalid_argument &error) {
    throw std::invalid_argument(fmt::format("{}, or golden", error.what()));
  }
}

void prepare(TrainingSession &session, const TrainArguments &a) {
  std::optional<Machine> npu;
  if (session.system() == nullptr) // golden runs need none, but a name that there is not is a mistake
    npu = load_machine(runtime::find_npu(a.npu), parse_settings(a.set, a.batch).machine);
  if (a.backend == "golden") {
    session.prepare(nullptr);
    return;
  }
  if (const SystemConfig *system = session.system()) {
    for (const DeviceConfig &device : system->devices)
      if (a.backend == "rtl") require_rtl(device.machine, std::filesystem::absolute(device.npu_file).string());
    session.prepare(nullptr);
    return;
  }
  if (backend_of(a.backend) == runtime::Backend::kRtl) require_rtl(*npu, a.npu);
  session.prepare(&*npu);
}

constexpr std::size_t kSteps = 0, kEvaluation = 1; ///< jobs of the display

TrainingOutcome run(TrainingSession &session, const TrainArguments &a, const SignalGuard &signals, std::FILE *out) {
  TrainingReport report(session.what(), session.forward(), session.step(), session.executor(), out);
  if (session.search()) print_search(*session.search(), *session.system(), out);
  report.begin(session.steps(), session.steps_before());
  const double left = static_cast<double>(session.steps() - session.steps_before());
  std::vector<double> work{left};
  if (a.evaluate) work.push_back(session.evaluation_steps());
  ProgressDisplay display(work, a.quiet);
  TrainingEvents events;
  events.before = [&](std::uint64_t, std::uint64_t) { signals.check(); };
  events.after = [&](std::uint64_t done, std::uint64_t steps, double rate, const StepResult &result) {
    display.update(kSteps, static_cast<double>(done - session.steps_before()) / left);
    if (done == steps) display.finish(kSteps);
    display.clear();
    report.step(done, rate, result);
    display.tick();
  };
  events.evaluating = [&](double done) {
    signals.check();
    display.update(kEvaluation, done);
    display.tick();
  };
  TrainingOutcome outcome = session.run(events);
  display.clear();
  report.end(outcome);
  if (session.system_step() != nullptr && outcome.ok()) print_system(*session.system_step(), out);
  return outcome;
}

std::string plot(const TrainingRun &run, const TrainingOutcome &outcome) {
  page::LineChart chart;
  chart.title = fmt::format("{}, {}, {} steps, products {}", run.model, run.data, outcome.losses.size(),
                            run.backend == "golden" ? "golden" : fmt::format("on {} ({})", run.npu, run.backend));
  chart.value = "loss";
  chart.values = outcome.losses;
  chart.mean_over = outcome.losses.size() >= 100 ? 20 : 1;
  return draw(chart);
}

} // namespace

int train(const TrainArguments &a, const SignalGuard &signals) {
  const bool to_stdout = uses_standard_output({{"--json", a.json}, {"--html", a.html}, {"--loss-plot", a.loss_plot}});
  if (a.tensors.dump.empty() != a.tensors.dump_to.empty())
    throw std::invalid_argument("--dump and --dump-to: which tensors, and the file; give both");
  TrainingSession session(a, load_forward(a), tensors_of(a.tensors));
  ReportFiles files(a.json, a.html);
  std::optional<OutputFile> svg;
  if (!a.loss_plot.empty()) svg.emplace(a.loss_plot);
  if (a.dry_run) return kOk;
  prepare(session, a);
  const TrainingOutcome outcome = run(session, a, signals, to_stdout ? stderr : stdout);
  if (files.asked()) {
    nlohmann::ordered_json json = to_json(session.what(), outcome);
    if (session.search()) json["search"] = search_json(*session.search(), *session.system());
    if (session.system_step() != nullptr) json["system"] = system_json(*session.system_step());
    files.commit(json, report::training_page);
  }
  if (svg) svg->commit(plot(session.what(), outcome));
  if (outcome.ok() && !a.tensors.dump_to.empty()) graph::write_tensors(a.tensors.dump_to, session.dumped(outcome));
  return outcome.ok() ? kOk : kFailed;
}

} // namespace gradweave::cli
