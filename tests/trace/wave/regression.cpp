#include "tests/trace/wave/regression.hpp"

#include "tests/trace/wave/bundles.hpp"
#include "tests/trace/wave/in_flight.hpp"
#include "tests/trace/wave/run_program.hpp"
#include "trace/fst/save_file.hpp"
#include "trace/wave/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace gradweave::wave {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kListed = 12;        ///< differing signals in the text
constexpr std::size_t kSaved = 40;         ///< and in the save file
constexpr std::uint64_t kSeenCycles = 120; ///< when the save file is opened

const SideNames kSides{"expected", "actual"};

fs::path output(const std::string &name, const char *extension, const Places &places) {
  return places.out / (name + extension);
}

std::string ending(const RunStatus &status) {
  std::string text(isa::kErrorNames[static_cast<std::size_t>(status.error)]);
  if (!status.ok()) text += fmt::format(" at command {}", status.error_index);
  return text;
}

/// The signal of a waveform that has the part: its bundle.
std::string bundle_of(const std::string &name, const std::vector<Part> &parts) {
  const auto part = std::find_if(parts.begin(), parts.end(), [&](const Part &p) { return p.name == name; });
  return part == parts.end() ? name : part->bundle;
}

SaveFile save_file(const Outcome &outcome, const TimeFormat &time, const std::vector<Part> &parts) {
  const DifferingSignal &first = outcome.report->differing.front();
  SaveFile save{outcome.waveform.string(), first.difference.first, kSeenCycles * time.period, {}};
  const FstFile waveform(outcome.waveform.string());
  const auto range_of = [&](const DifferingSignal &s) {
    const std::string bundle = bundle_of(s.name, parts);
    for (const Signal &signal : waveform.signals())
      if (bundle != s.name && signal.name == bundle) return signal.name + signal.range;
    return s.name + s.range;
  };
  SavedGroup clock{"clock and commands", {"TOP.npu.clk_i"}}, now{"differ first", {}}, later{"differ later", {}};
  for (std::size_t i = 0; i < std::min(kSaved, outcome.report->differing.size()); ++i) {
    const DifferingSignal &signal = outcome.report->differing[i];
    std::vector<std::string> &group = (signal.difference.first == first.difference.first ? now : later).signals;
    const std::string name = range_of(signal);
    if (std::find(group.begin(), group.end(), name) == group.end()) group.push_back(name);
  }
  for (const Signal &signal : waveform.signals())
    for (const char *name : {"TOP.npu.evt_issue_o", "TOP.npu.evt_issue_index_o", "TOP.npu.evt_start_o",
                             "TOP.npu.evt_start_index_o", "TOP.npu.evt_done_o", "TOP.npu.evt_done_index_o"})
      if (signal.name == name) clock.signals.push_back(signal.name + signal.range);
  save.groups = {now, clock, later};
  return save;
}

void write_file(const fs::path &file, const std::string &text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error(fmt::format("{}: cannot be written", file.string()));
}

std::string explain_difference(const Outcome &outcome, const Scenario &scenario, const Places &places) {
  const DiffReport &report = *outcome.report;
  const TimeFormat time = time_format(report, outcome.recording.period);
  std::string text = diff_text(report, time, kSides, kListed);
  if (report.differing.empty()) return text;

  const DifferingSignal &first = report.differing.front();
  std::string commands;
  for (const std::string &line :
       commands_in_flight(scenario, outcome.recording, first.difference.first / outcome.recording.period, first.name))
    commands += fmt::format("  {}\n", line);
  text.insert(text.find('\n') + 1, commands);
  const fs::path saved = output(outcome.name, ".gtkw", places);
  write_file(saved, save_file_text(save_file(outcome, time, read_bundles(places.bundles.string()))));
  return text + fmt::format("all signals of this run: {}\nopen it at this cycle: gtkwave {}\n",
                            outcome.waveform.string(), saved.string());
}

} // namespace

fs::path golden_of(const std::string &name, const Places &places) { return places.goldens / (name + ".fst"); }

Outcome run_scenario(const Scenario &scenario, const Places &places) {
  Outcome outcome;
  outcome.name = scenario.name;
  outcome.waveform = output(scenario.name, ".fst", places);
  const fs::path log = output(scenario.name, ".log", places), times = output(scenario.name, ".json", places);
  outcome.held = output(scenario.name, ".held", places);
  for (const fs::path &old : {outcome.waveform, outcome.held, times, log, output(scenario.name, ".gtkw", places)})
    fs::remove(old);
  const int code =
      run_program({(places.recorders / ("gw_wave_record_" + scenario.npu)).string(),
                   (places.streams / (scenario.name + ".txt")).string(),
                   (places.configs / (scenario.npu + ".toml")).string(), (places.out / scenario.name).string()},
                  log);
  if (code != 0) {
    outcome.problem = fmt::format("the simulation ended with exit code {}; its messages are in {}", code, log.string());
    return outcome;
  }
  outcome.recording = read_recording(times);
  if (!outcome.recording.failed.empty())
    outcome.problem = fmt::format("the run failed: {} ({})", outcome.recording.failed, log.string());
  else if (outcome.recording.end != ending(scenario.end))
    outcome.problem = fmt::format("the run ended in {}, not in {}", outcome.recording.end, ending(scenario.end));

  DiffOptions options;
  options.filter = read_signal_filter(places.signals.string());
  write_held(FstFile(outcome.waveform.string()), options.filter, read_bundles(places.bundles.string()),
             outcome.held.string());
  const fs::path golden = golden_of(scenario.name, places);
  if (!fs::exists(golden)) return outcome;
  outcome.report = diff(FstFile(golden.string()), FstFile(outcome.held.string()), options);
  if (outcome.equal())
    for (const fs::path &needless : {outcome.waveform, outcome.held, times, log})
      fs::remove(needless);
  return outcome;
}

std::string explain(const Outcome &outcome, const Scenario &scenario, const Places &places) {
  std::string text;
  if (outcome.report && !outcome.report->equal()) text = explain_difference(outcome, scenario, places);
  if (!outcome.report && outcome.problem.empty())
    text += fmt::format("there is no golden {}\n", golden_of(outcome.name, places).string());
  if (!outcome.problem.empty()) text += outcome.problem + "\n";
  return fmt::format("{}: {}", outcome.name, text);
}

std::string accept(const Outcome &outcome, const Places &places) {
  if (!outcome.problem.empty()) throw ConfigError(fmt::format("{}: not accepted: {}", outcome.name, outcome.problem));
  fs::copy_file(outcome.held, golden_of(outcome.name, places), fs::copy_options::overwrite_existing);
  if (!outcome.report)
    return fmt::format("{}: new, {} signals", outcome.name, FstFile(outcome.held.string()).signals().size());
  const DiffReport &report = *outcome.report;
  std::string text = fmt::format("{}: changed: {} of {} signals differ, {} gone, {} new", outcome.name,
                                 report.differing.size(), report.compared, report.only_a.size(), report.only_b.size());
  if (!report.differing.empty())
    text += fmt::format("; {}", first_difference(report.differing.front(),
                                                 time_format(report, outcome.recording.period), {"was", "is"}));
  return text;
}

} // namespace gradweave::wave
