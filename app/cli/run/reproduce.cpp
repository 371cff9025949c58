// gradweave reproduce
#include "app/cli/common/options.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/run/commands.hpp"

#include "app/cli/common/work.hpp"
#include "app/evaluation/page/output.hpp"
#include "app/evaluation/papers.hpp"
#include "app/evaluation/run.hpp"
#include "app/report/text_format.hpp"
#include "base/file/output_file.hpp"
#include "base/text/split.hpp"
#include "compiler/paper/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

namespace gradweave::cli {
namespace {

struct ReproduceArguments {
  std::string study;                       ///< name or path
  std::string figures, networks, machines; ///< comma-separated; empty: all
  std::string out = "reproduce";
  std::string policy; ///< of the baseline as the paper describes it; empty: the default
  unsigned jobs = 0;  ///< 0: one a core
  bool rtl = false;
  std::optional<std::uint32_t> sample; ///< empty: one of each network, if there is a Verilated NPU
  std::uint64_t sample_cycles = 1000000;
  std::uint64_t seed = 1;
  bool search = false;
  bool quiet = false;
};

namespace fs = std::filesystem;
using evaluation::Evaluation;

/// The command without what chooses figures, and with what the numbers depend on.
std::string base_command(const ReproduceArguments &a) {
  std::string text = fmt::format("gradweave reproduce {}", shell_word(a.study));
  if (!a.networks.empty()) text += " --network " + shell_word(a.networks);
  if (!a.machines.empty()) text += " --machine " + shell_word(a.machines);
  if (!a.policy.empty()) text += " --policy " + shell_word(a.policy);
  if (a.seed != 1) text += fmt::format(" --seed {}", a.seed);
  if (a.search) text += " --search";
  return text;
}

std::string shown(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? fmt::format("{:.2f}", *value) : std::string("-");
}

void print(const Evaluation &evaluation) {
  const std::vector<evaluation::Column> &columns = evaluation.presentation.columns;
  constexpr std::size_t kLeast = 8;
  const auto cell = [&](std::size_t column, const std::string &text) {
    return fmt::format(" {:>{}}", text, std::max(kLeast, columns[column].brief.size()));
  };
  std::string titles;
  for (std::size_t i = 0; i < columns.size(); ++i)
    titles += cell(i, columns[i].brief);
  constexpr const char *kRow = "{:<12} {:<60} {:>8}{} {}\n";
  fmt::print(kRow, "figure", "number", "paper", titles, "");
  for (const evaluation::Figure &figure : evaluation.figures)
    for (const evaluation::Row &row : figure.rows) {
      std::string ours;
      for (std::size_t i = 0; i < columns.size(); ++i)
        ours += cell(i, shown(i < row.ours.size() ? row.ours[i] : std::nullopt));
      fmt::print(kRow, row.figure, row.text, shown(row.paper), ours,
                 row.paper || row.note.empty() ? row.unit : fmt::format("{} ({})", row.unit, row.note));
    }
  for (const evaluation::RtlCheck &check : evaluation.rtl)
    fmt::print("rtl          {:<60} {}\n", fmt::format("{} {} ({})", check.network, check.layer, check.variant),
               check.passed() ? fmt::format("{} cycles, equal", check.rtl_cycles) : check.problem);
}

ExitCode verdict(const Evaluation &evaluation, bool rtl_asked) {
  const bool rtl_equal = std::all_of(evaluation.rtl.begin(), evaluation.rtl.end(),
                                     [](const evaluation::RtlCheck &check) { return check.passed(); });
  for (const std::string &problem : evaluation.problems)
    std::fprintf(stderr, "gradweave: not evaluated: %s\n", problem.c_str());
  if (!evaluation.rtl_note.empty()) std::fprintf(stderr, "gradweave: RTL: %s\n", evaluation.rtl_note.c_str());
  if (!rtl_equal) return kFailed;
  if (rtl_asked && evaluation.rtl.empty()) return kDevice;
  return evaluation.problems.empty() ? kOk : kBadInput;
}

/// Throws std::invalid_argument for an option that says nothing about the paper.
void check_options(const ReproduceArguments &a, const evaluation::Paper &paper) {
  for (const auto &[given, option] :
       {std::pair{!a.policy.empty(), "--policy"}, {a.rtl, "--rtl"}, {a.sample.value_or(0) != 0, "--sample"}})
    if (given && !paper.on_npus)
      throw std::invalid_argument(
          fmt::format("{}: nothing of '{}' runs on an NPU; leave the option out", option, paper.name));
  if (!a.machines.empty() && !paper.machines)
    throw std::invalid_argument(
        fmt::format("--machine: '{}' has no machines to choose among; leave the option out", paper.name));
  if (a.search && !paper.searches)
    throw std::invalid_argument(
        fmt::format("--search: '{}' searches all that it shows whenever it runs; leave the option out", paper.name));
  if (!a.policy.empty() && !paper.policies)
    throw std::invalid_argument(
        fmt::format("--policy: '{}' has no baseline that follows one; leave the option out", paper.name));
}

int reproduce(const ReproduceArguments &a, const SignalGuard &signals) {
  const evaluation::Study study = evaluation::load_study(evaluation::find_study(a.study));
  const evaluation::Paper &paper = evaluation::paper_of(study);
  check_options(a, paper);
  const evaluation::Request request{split(a.networks, ','), a.policy, base_command(a), a.seed,
                                    split(a.machines, ','), a.search};
  const std::unique_ptr<evaluation::Repetition> repetition = paper.open(study, request);
  evaluation::RunSettings settings;
  settings.figures = evaluation::select_figures(paper, a.figures);
  settings.jobs = a.jobs != 0 ? a.jobs : std::max(1U, std::thread::hardware_concurrency());
  settings.quiet = a.quiet;
  settings.rtl = a.rtl;
  settings.sample = a.sample.value_or(1);
  settings.sample_cycles = a.sample_cycles;
  settings.seed = a.seed;
  make_output_directory(a.out, "--out");
  evaluation::ResultsFile kept(fs::path(a.out) / "evaluations.db");

  try {
    Evaluation evaluation = evaluation::run(study, *repetition, settings, kept, signals);
    evaluation.command = request.command + (a.figures.empty() ? "" : " --figure " + shell_word(a.figures));
    write_outputs(evaluation, a.out);
    print(evaluation);
    fmt::print("page         {}\n", (fs::path(a.out) / "index.html").string());
    return verdict(evaluation, a.rtl || a.sample.value_or(0) != 0);
  } catch (const Interrupted &) {
    std::fprintf(stderr, "gradweave: %zu evaluations are kept in %s; the same command goes on from there\n",
                 kept.size(), kept.file().c_str());
    throw;
  }
}

} // namespace

void add_reproduce(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto arguments = std::make_shared<ReproduceArguments>(); // as long as the parser
  ReproduceArguments &a = *arguments;
  CLI::App *command = add_subcommand(app, "reproduce");
  command->add_option("STUDY", a.study, "Evaluation: " + evaluation::paper_names() + ", or the path of a .toml file")
      ->required();
  command->add_option("--figure", a.figures,
                      "Figures, separated by commas, default: all; of " + evaluation::figure_names());
  command->add_option("--network", a.networks, "Networks, as in res,bert; default: all");
  command->add_option("--machine", a.machines, "Machines of a paper that has several, as in arch5,arch6; default: all");
  command->add_option("--out,-o", a.out, "Directory of page, drawings, tables and finished evaluations")
      ->capture_default_str();
  command->add_option("--policy", a.policy,
                      "Baseline as the paper describes it (docs/paper-baseline.md): words joined by /, of " +
                          compiler::paper::policy_words());
  command->add_flag("--search", a.search,
                    "Search whole training steps anew, for up to hours, and write what is found to the directory; "
                    "default: plans that were found before are compiled, verified and timed");
  command->add_option("--jobs", a.jobs, "Processes at a time; default: one a core")->check(whole_number(1U, 4096U));
  command->add_flag("--rtl", a.rtl, "Run every evaluation on the RTL, too; pick few with --figure and --network");
  command
      ->add_option("--sample", a.sample,
                   "Evaluations of each network to run on the RTL, too; default: 1 if it is built")
      ->check(whole_number(0U, 1000000U));
  command->add_option("--sample-cycles", a.sample_cycles, "Cycles that one of these takes at most")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_option("--seed", a.seed, "Seed of the sample and of training sets")
      ->check(check_whole_number)
      ->capture_default_str();
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  command->footer(
      "Finished evaluations are kept in evaluations.db of the directory: an interrupted run goes on from there.\n"
      "Examples:\n"
      "  gradweave reproduce igo\n"
      "  gradweave reproduce memory --out memory\n"
      "  gradweave reproduce dpt --out dpt\n"
      "  gradweave reproduce igo --figure 12 --network res,bert --out figure12\n"
      "  gradweave reproduce flexer --figure 8 --network SqueezeNet --machine arch5 --out squeezenet\n"
      "Exit codes: 0 done, 1 the RTL differs, 2 usage, 3 bad input file or a layer that cannot be compiled,\n"
      "4 no RTL although asked for, 5 output cannot be written, 128 + signal interrupted");
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return reproduce(*arguments, signals); };
  });
}

} // namespace gradweave::cli
