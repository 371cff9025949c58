#include "app/validate/compare_traces.hpp"

#include "app/validate/verdict/compare.hpp"
#include "app/validate/verdict/explain.hpp"
#include "trace/command_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime {
namespace {

using Trace = std::vector<TracedCommand>;

constexpr std::size_t kHeaderLines = 1;

bool same(const TracedCommand &a, const TracedCommand &b) {
  return a.index == b.index && a.label.engine == b.label.engine && a.label.opcode == b.label.opcode &&
         a.label.layer == b.label.layer && a.label.tile == b.label.tile;
}

void check_same_commands(const std::filesystem::path &rtl_file, const Trace &rtl,
                         const std::filesystem::path &model_file, const Trace &model) {
  constexpr const char *kRemedy = "write both traces of the same run";
  const std::size_t common = std::min(rtl.size(), model.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!same(rtl[i], model[i]))
      throw ConfigError(fmt::format("{}:{}: command {} is {}, but in {} it is {} {}; {}", model_file.string(),
                                    i + 1 + kHeaderLines, model[i].index, model[i].label.text(), rtl_file.string(),
                                    rtl[i].index, rtl[i].label.text(), kRemedy));
  if (rtl.size() != model.size())
    throw ConfigError(fmt::format("{}: {} commands, but {} has {}; {}", model_file.string(), model.size(),
                                  rtl_file.string(), rtl.size(), kRemedy));
  if (rtl.empty()) throw ConfigError(fmt::format("{}: no commands in it; write the trace of a run", rtl_file.string()));
}

TimedRun slice(const Trace &trace, std::size_t first, std::size_t end) {
  TimedRun run;
  run.counters.values.clear();
  for (std::size_t i = first; i < end; ++i)
    run.times.push_back(trace[i].times);
  return run;
}

ValidationVerdict compare_stream(const Trace &rtl, const Trace &model, std::size_t first, std::size_t end) {
  const TimedRun a = slice(rtl, first, end);
  const TimedRun b = slice(model, first, end);
  const TimingComparison comparison = compare_runs(a, b);
  ValidationVerdict verdict;
  verdict.name = rtl[first].label.layer.empty() ? fmt::format("stream at line {}", first + 1 + kHeaderLines)
                                                : rtl[first].label.layer;
  verdict.commands = comparison.commands;
  verdict.commands_differ = comparison.commands_differ;
  if (comparison.equal()) return verdict;
  verdict.outcome = Outcome::kMismatch;
  DescribedStream described;
  described.label = [&](std::size_t i) { return rtl[first + i].label; };
  verdict.report = explain(comparison, a, b, described);
  return verdict;
}

} // namespace

std::vector<ValidationVerdict> compare_traces(const std::filesystem::path &rtl_file,
                                              const std::filesystem::path &model_file) {
  const Trace rtl = read_command_trace(rtl_file);
  const Trace model = read_command_trace(model_file);
  check_same_commands(rtl_file, rtl, model_file, model);
  std::vector<ValidationVerdict> verdicts;
  for (std::size_t first = 0; first < rtl.size();) {
    std::size_t end = first + 1;
    while (end < rtl.size() && rtl[end].index != 0)
      ++end;
    verdicts.push_back(compare_stream(rtl, model, first, end));
    first = end;
  }
  return verdicts;
}

} // namespace gradweave::runtime
