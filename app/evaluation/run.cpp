#include "app/evaluation/run.hpp"
#include "app/evaluation/unit/unit_key.hpp"

#include "app/evaluation/rtl_check.hpp"
#include "app/evaluation/work.hpp"
#include "device/rtl_build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gradweave::evaluation {
namespace {

std::vector<Figure> make_figures(const Repetition &repetition, const std::vector<std::string_view> &ids,
                                 Evaluations &evaluations, bool planning) {
  std::vector<Figure> figures;
  for (const std::string_view id : ids)
    figures.push_back(repetition.figure(id, evaluations, planning));
  return figures;
}

/// Whether a figure shows nothing, as where none of the networks and machines that were chosen is in it.
bool is_empty(const Figure &figure) {
  const auto has_lines = [](const Table &table) { return !table.rows.empty(); };
  const auto has_groups = [](const Chart &chart) { return !chart.groups.empty(); };
  return figure.rows.empty() && figure.plots.empty() &&
         std::none_of(figure.tables.begin(), figure.tables.end(), has_lines) &&
         std::none_of(figure.charts.begin(), figure.charts.end(), has_groups);
}

/// Notes it at figures that are empty; throws std::invalid_argument if all are.
void note_empty(std::vector<Figure> &figures) {
  std::vector<std::string> titles;
  for (Figure &figure : figures) {
    if (!is_empty(figure)) continue;
    titles.push_back(figure.title);
    figure.notes.insert(figure.notes.begin(),
                        "Empty: this figure is of other networks or machines than those that were chosen.");
  }
  if (titles.size() == figures.size() && !figures.empty())
    throw std::invalid_argument(fmt::format(
        "none of the networks and machines chosen is in '{}'; choose those of its title, or leave --network and "
        "--machine out",
        fmt::join(titles, "', '")));
}

/// The reasons why units have no result, each once.
std::vector<std::string> problems_of(const WantedUnits &wanted, Evaluations &results) {
  std::map<std::string, std::size_t> seen;
  for (const Unit &unit : wanted.units())
    if (const UnitResult result = results.get(unit); !result.problem.empty())
      ++seen[fmt::format("{} ({})", result.problem, unit.npu.name)];
  for (const StepUnit &unit : wanted.steps())
    if (const StepResult result = results.get(unit); !result.problem.empty())
      ++seen[fmt::format("{} ({}, whole step)", result.problem, unit.npu.name)];
  std::vector<std::string> problems;
  for (const auto &[problem, count] : seen)
    problems.push_back(count == 1 ? problem : fmt::format("{}, and {} others", problem, count - 1));
  return problems;
}

/// Throws std::runtime_error if the build fails.
void build_missing_rtl(const std::vector<RtlUnit> &units) {
  std::map<std::string, const Machine *> npus;
  for (const RtlUnit &unit : units)
    npus[unit.npu.name] = &unit.npu;
  for (const auto &[name, npu] : npus)
    build_missing_rtl_library(*npu, name);
}

void add_rtl(Evaluation &evaluation, const Workloads *workloads, const RunSettings &settings, const WantedUnits &wanted,
             Evaluations &results, ResultsFile &kept, const SignalGuard &signals) {
  const RtlSelection selection{settings.rtl, settings.sample, settings.sample_cycles, settings.seed};
  const std::vector<RtlUnit> units = workloads != nullptr
                                         ? select_for_rtl(wanted.units(), *workloads, results, selection)
                                         : select_for_rtl(wanted.works(), results, selection);
  const std::string npus = workloads != nullptr ? "the small NPU" : "NPUs whose RTL is built";
  if (!settings.rtl && settings.sample == 0) {
    evaluation.rtl_note = "Nothing was run on the RTL: --sample 0.";
    return;
  }
  if (settings.rtl) build_missing_rtl(units);
  const RtlRun rtl = run_on_rtl(units, settings.jobs, settings.quiet, kept, signals);
  evaluation.rtl = rtl.checks;
  if (!rtl.unavailable.empty())
    evaluation.rtl_note = fmt::format("Nothing was run on the RTL: {}", rtl.unavailable);
  else if (units.empty())
    evaluation.rtl_note = fmt::format(
        "Nothing was run on the RTL: no evaluation of these figures {}.",
        settings.rtl ? "has a stream" : fmt::format("runs on {} in up to {} cycles", npus, settings.sample_cycles));
  else if (settings.rtl)
    evaluation.rtl_note = fmt::format("All {} evaluations that can run, --rtl.", units.size());
  else
    evaluation.rtl_note = fmt::format("{} of each network on {}, drawn with seed {} among those of up to {} cycles.",
                                      settings.sample, npus, settings.seed, settings.sample_cycles);
}

} // namespace

Evaluation run(const Study &study, const Repetition &repetition, const RunSettings &settings, ResultsFile &kept,
               const SignalGuard &signals) {
  WantedUnits wanted;
  make_figures(repetition, settings.figures, wanted, true);
  evaluate_missing(wanted, kept, settings.jobs, settings.quiet, signals);

  KeptResults results(kept);
  Evaluation evaluation;
  evaluation.study = study.name;
  evaluation.title = study.title;
  evaluation.presentation = repetition.presentation();
  evaluation.tool = tool_version();
  evaluation.units = wanted.units().size() + wanted.steps().size() + wanted.works().size();
  evaluation.figures = make_figures(repetition, settings.figures, results, false);
  note_empty(evaluation.figures);
  evaluation.problems = problems_of(wanted, results);
  evaluation.files = repetition.files(wanted.steps(), results);
  const bool has_streams = std::any_of(wanted.works().begin(), wanted.works().end(),
                                       [](const Work &work) { return static_cast<bool>(work.streams); });
  if (repetition.workloads() != nullptr || has_streams)
    add_rtl(evaluation, repetition.workloads(), settings, wanted, results, kept, signals);
  return evaluation;
}

} // namespace gradweave::evaluation
