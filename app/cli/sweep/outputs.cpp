#include "app/cli/sweep/outputs.hpp"

#include "app/cli/common/arguments.hpp"
#include "app/cli/common/work.hpp"
#include "app/sweep/page/page.hpp"
#include "base/text/split.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <map>

namespace gradweave::cli {
namespace {

constexpr std::size_t kShownProblems = 5;

std::unique_ptr<OutputFile> open(const std::string &file) {
  return file.empty() ? nullptr : std::make_unique<OutputFile>(file);
}

/// Why points have no numbers, each reason once.
void print_problems(const sweep::Table &table, sweep::Outcome outcome) {
  std::map<std::string, std::pair<std::size_t, std::string>> reasons;
  for (const sweep::Row &row : table.rows)
    if (row.result && row.result->outcome == outcome) {
      auto &[count, first] = reasons[row.result->problem];
      if (count++ == 0) first = to_text(row.point);
    }
  std::size_t shown = 0;
  for (const auto &[reason, where] : reasons) {
    if (shown++ == kShownProblems) {
      std::fprintf(stderr, "gradweave: ... and for %zu other reasons (column problem of --csv)\n",
                   reasons.size() - kShownProblems);
      return;
    }
    std::fprintf(stderr, "gradweave: %zu %s: %s (first: %s)\n", where.first, std::string(to_string(outcome)).c_str(),
                 reason.c_str(), where.second.c_str());
  }
}

} // namespace

void add_sweep_outputs(CLI::App &command, SweepOutputs &outputs) {
  command.add_option("--csv", outputs.csv, "Write the table to this file; - is standard output");
  command.add_option("--json", outputs.json, "Write it as JSON, with what the columns mean");
  command.add_option("--html", outputs.html,
                     "Write a page with fronts, plots, filters and the table; it needs no network");
  command.add_option(
      "--by", outputs.by,
      "Columns of the fronts, as in energy_mj,milliseconds: smaller is better; default: time and what of "
      "pes, scratchpad_bytes and bandwidth_gb_s differs");
}

OpenOutputs::OpenOutputs(const SweepOutputs &outputs)
    : text_(uses_standard_output({{"--csv", outputs.csv}, {"--json", outputs.json}, {"--html", outputs.html}})
                ? stderr
                : stdout),
      by_(outputs.by.empty() ? std::vector<std::size_t>{} : sweep::columns_of(split(outputs.by, ','))),
      csv_(open(outputs.csv)), json_(open(outputs.json)), html_(open(outputs.html)) {}

int OpenOutputs::finish(const sweep::Table &table, const std::string &command) {
  if (csv_) csv_->commit(to_csv(table));
  if (json_) json_->commit(to_json(table));
  const std::vector<std::size_t> by = by_.empty() ? usual_front(table) : by_;
  if (html_) html_->commit(page(table, command, by));
  fmt::print(text_, "{}", to_text(table, by));
  const std::size_t infeasible = table.count(sweep::Outcome::kInfeasible),
                    failed = table.count(sweep::Outcome::kFailed), missing = table.missing();
  fmt::print(text_, "{} points: {} with numbers", table.rows.size(), table.count(sweep::Outcome::kOk));
  if (infeasible != 0) fmt::print(text_, ", {} infeasible", infeasible);
  if (failed != 0) fmt::print(text_, ", {} failed", failed);
  if (missing != 0) fmt::print(text_, ", {} without a result", missing);
  fmt::print(text_, "\n");
  std::fflush(text_);
  print_problems(table, sweep::Outcome::kInfeasible);
  print_problems(table, sweep::Outcome::kFailed);
  if (failed != 0) return kFailed;
  return missing != 0 ? kRunning : kOk;
}

} // namespace gradweave::cli
