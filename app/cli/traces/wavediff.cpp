// gradweave wavediff
#include "trace/wave/diff.hpp"

#include "app/cli/common/arguments.hpp"
#include "app/cli/traces/wavediff.hpp"
#include "base/file/output_file.hpp"
#include "trace/fst/save_file.hpp"
#include "trace/wave/diff_text.hpp"
#include "trace/wave/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace gradweave::cli {
namespace {

constexpr std::size_t kSaved = 100; ///< signals in a save file

wave::DiffOptions options_of(const WavediffArguments &a) {
  wave::DiffOptions options;
  for (const std::string &pattern : a.signals)
    options.filter.include(pattern);
  for (const std::string &pattern : a.exclude)
    options.filter.exclude(pattern);
  const auto scope = [](const std::string &name) { return name.empty() || name.back() == '.' ? name : name + "."; };
  options.strip_a = scope(a.scope_a);
  options.strip_b = scope(a.scope_b);
  options.from = a.from;
  options.to = a.to;
  options.offset = a.offset;
  options.common = a.common;
  options.values.ignore_unknown = a.ignore_unknown;
  options.clock = a.clock;
  return options;
}

/// Of the first file, at the first difference.
std::string save_text(const wave::DiffReport &report, const WavediffArguments &a, const wave::FstFile &file) {
  wave::SaveFile save;
  save.waveform = a.a;
  const std::uint64_t length = std::max<std::uint64_t>(1, file.end_time() - file.start_time());
  save.span = a.period != 0 ? std::min(length, 100 * a.period) : std::max<std::uint64_t>(1, length / 20);
  wave::SavedGroup group{"differ, in order of time", {}};
  for (std::size_t i = 0; i < std::min(kSaved, report.differing.size()); ++i)
    group.signals.push_back(options_of(a).strip_a + report.differing[i].name + report.differing[i].range);
  if (!report.differing.empty()) {
    std::uint64_t units = 1; // of the report in one of the file
    for (int t = report.timescale; t < file.timescale(); ++t)
      units *= 10;
    save.marker = report.differing.front().difference.first / units;
  }
  save.groups.push_back(group);
  return save_file_text(save);
}

int compare(const WavediffArguments &a) {
  const wave::FstFile in_a(a.a), in_b(a.b);
  const wave::DiffReport report = wave::diff(in_a, in_b, options_of(a));
  if (!a.json.empty()) OutputFile(a.json).commit(wave::diff_json(report, a.a, a.b, a.period));
  if (!a.save.empty()) OutputFile(a.save).commit(save_text(report, a, in_a));
  if (a.json != "-" && a.save != "-") {
    const wave::TimeFormat time = wave::time_format(report, a.period);
    std::fputs(wave::diff_text(report, time, {"a", "b"}, a.limit).c_str(), stdout);
  }
  return report.equal() ? kOk : kFailed;
}

} // namespace

int wavediff(const WavediffArguments &a) {
  if (a.json == "-" && a.save == "-")
    throw std::invalid_argument("--json and --save cannot both go to standard output; name a file for one of them");
  if (!a.save.empty() && !a.clock.empty())
    throw std::invalid_argument("--save wants times, and --clock compares edges; leave one of them out");
  // Outputs fail as such, not as a fault of the inputs, which is all that run_guarded() can tell apart.
  return wave::run_guarded(fmt::format("{} and {}", a.a, a.b), [&] {
    try {
      return compare(a);
    } catch (const OutputError &error) {
      std::fflush(stdout);
      std::fprintf(stderr, "gradweave: error: %s\n", error.what());
      return static_cast<int>(kOutput);
    }
  });
}

} // namespace gradweave::cli
