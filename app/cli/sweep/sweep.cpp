// gradweave sweep
#include "app/cli/common/options.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/sweep/collect.hpp"
#include "app/cli/sweep/commands.hpp"
#include "app/cli/sweep/outputs.hpp"
#include "app/cli/sweep/points.hpp"
#include "app/cli/sweep/slurm_run.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "app/request/repeat_command.hpp"
#include "base/process/parallel.hpp"
#include "base/text/split.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;

struct SweepArguments {
  Invocation invocation;
  std::string study;                         ///< file; empty: all is on the command line
  std::map<std::string, std::string> fields; ///< as they were written
  std::vector<std::string> set;
  std::string title;
  bool list = false;
  std::uint64_t random = 0; ///< points to draw; 0: all
  std::optional<std::uint64_t> seed;
  std::string out = "sweep.db", shard;
  SweepOutputs outputs;
  sweep::SlurmOptions slurm;
  bool use_slurm = false;
  unsigned jobs = 0; ///< 0: one a core
  bool quiet = false;
};

void add_set(sweep::Study &study, const std::string &text) {
  const std::string source = "--set " + text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.substr(0, equals).find('.') == std::string::npos)
    throw std::invalid_argument(source +
                                ": no TABLE.FIELD=VALUE,...; write, for example, --set npu.spm_bytes=262144,524288 "
                                "or --set npu.rows,npu.cols=16,32");
  set_axis(study, sweep::make_axis(text.substr(0, equals), split(text.substr(equals + 1), ','), source), source);
}

/// Paths as they are from anywhere.
sweep::Study with_absolute_paths(sweep::Study study) {
  for (sweep::Axis &axis : study.axes)
    for (std::size_t f = 0; f < axis.fields.size(); ++f)
      if (std::count(path_fields().begin(), path_fields().end(), axis.fields[f]) != 0)
        for (std::vector<std::string> &value : axis.values)
          if (runtime::is_path(value[f])) value[f] = fs::absolute(value[f]).lexically_normal().string();
  return study;
}

/// The study of the file, with what the command line says in place of what it says, and what it says nothing of:
/// network, NPU, effort.
sweep::Study study_of(const SweepArguments &a) {
  sweep::Study study;
  if (!a.study.empty()) study = sweep::load_study(a.study, path_fields());
  if (!a.title.empty()) study.title = a.title;
  if (a.list) study.walk = sweep::Walk::kList;
  if (a.random != 0) {
    study.walk = sweep::Walk::kRandom;
    study.count = a.random;
  }
  if (a.seed) study.seed = *a.seed;
  for (const std::string &name : option_fields())
    if (const auto given = a.fields.find(name); given != a.fields.end()) {
      const std::string source = fmt::format("--{} {}", name, given->second);
      const bool one = name == "layers"; // whose value has commas
      set_axis(study, sweep::make_axis(name, one ? std::vector{given->second} : split(given->second, ','), source),
               source);
    }
  for (const std::string &text : a.set)
    add_set(study, text);
  for (const char *name : {"plans", "npu", "model"}) {
    const auto has = [&](const sweep::Axis &axis) {
      return std::count(axis.fields.begin(), axis.fields.end(), name) != 0;
    };
    if (std::none_of(study.axes.begin(), study.axes.end(), has))
      study.axes.insert(study.axes.begin(), sweep::make_axis(name, {usual_value(name)}, name));
  }
  return with_absolute_paths(std::move(study));
}

struct Share {
  std::size_t number = 1, of = 1;
};

Share parse_share(const std::string &text) {
  if (text.empty()) return {};
  Share share;
  const char *end = text.data() + text.size();
  const auto [slash, bad_number] = std::from_chars(text.data(), end, share.number);
  if (bad_number == std::errc() && slash != end && *slash == '/') {
    const auto [last, bad_of] = std::from_chars(slash + 1, end, share.of);
    if (bad_of == std::errc() && last == end && share.number >= 1 && share.number <= share.of) return share;
  }
  throw std::invalid_argument(fmt::format("--shard {}: write I/N with I from 1 to N, as in 2/8", text));
}

std::string command_of(const SweepArguments &a) {
  std::string text = "gradweave";
  for (std::size_t i = 1; i < a.invocation.command_line.size(); ++i)
    text += ' ' + shell_word(a.invocation.command_line[i]);
  return text;
}

int run_here(const SweepArguments &a, sweep::Store &store, Points points, const SignalGuard &signals) {
  const Share share = parse_share(a.shard);
  std::vector<sweep::Work> work = share_of(std::move(points.work), share.number, share.of);
  const sweep::RunCount count =
      sweep::run(store, std::move(work), a.jobs != 0 ? a.jobs : usable_cores(), a.quiet, signals);
  if (!a.quiet)
    std::fprintf(stderr, "gradweave: %zu results were there, %zu are new%s; all are in %s\n", count.known, count.done,
                 count.others == 0 ? "" : fmt::format(", {} came from other processes", count.others).c_str(),
                 a.out.c_str());
  return kOk;
}

int run_sweep(const SweepArguments &a, const SignalGuard &signals) {
  const sweep::Study study = study_of(a);
  const Share share = parse_share(a.shard);
  if (a.use_slurm && share.of != 1)
    throw std::invalid_argument("--shard: --slurm makes the shares itself; leave out one of them");
  OpenOutputs outputs(a.outputs);
  Points points = make_points(study);
  for (const std::string &note : points.notes)
    if (!a.quiet) std::fprintf(stderr, "gradweave: %s\n", note.c_str());
  const sweep::Identity identity{to_toml(study), study.title, std::string(evaluation::tool_version())};
  const bool alone = share.of != 1;
  sweep::Store store(a.out, identity, points.points, alone ? DatabaseAccess::kExclusive : DatabaseAccess::kShared);
  tell_dropped(store, "their points are measured anew");
  if (a.use_slurm) {
    const bool complete = run_on_slurm({study, a.out, a.slurm, a.quiet}, store, points.work, signals);
    if (!complete) return kOk;
  } else {
    run_here(a, store, std::move(points), signals);
  }
  if (alone) return kOk; // its file has the rest of the points without results, for `sweep collect`
  return outputs.finish(sweep::read_table(a.out), command_of(a));
}

void add_slurm_options(CLI::App &command, SweepArguments &a) {
  const char *group = "Slurm";
  command.add_flag("--slurm", a.use_slurm, "Submit the points without a result as a job array of Slurm")->group(group);
  command.add_option("--slurm-partition", a.slurm.partition, "Partition of Slurm")->group(group);
  command.add_option("--slurm-time", a.slurm.time, "Time limit of a task, as sbatch takes it: 1:30:00")->group(group);
  command.add_option("--slurm-memory", a.slurm.memory, "Memory of a task, as sbatch takes it: 2G")->group(group);
  command.add_option("--slurm-account", a.slurm.account, "Account that is charged")->group(group);
  command.add_option("--slurm-tasks", a.slurm.tasks, "Tasks of the array; default: one for each minute of the work")
      ->check(whole_number(1U, 10000U))
      ->group(group);
  command.add_option("--slurm-cores", a.slurm.cores, "Cores of a task")
      ->check(whole_number(1U, 1024U))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--slurm-option", a.slurm.further,
                  "A further option of sbatch, as --slurm-option=--qos=long; may be repeated")
      ->allow_extra_args(false)
      ->take_all()
      ->group(group);
  command.add_flag("--slurm-wait", a.slurm.wait, "Wait for the jobs, collect their results and write the outputs")
      ->group(group);
}

void add_study_options(CLI::App &command, SweepArguments &a) {
  command.add_option("STUDY", a.study, "File of a study (docs/sweeps.md); options take the place of what it says");
  for (const std::string &name : option_fields()) {
    CLI::Option *option = command
                              .add_option_function<std::string>(
                                  "--" + name, [&a, name](const std::string &text) { a.fields[name] = text; },
                                  help_of_field(name) + (name == "layers" ? "" : "; several with ',' between"))
                              ->type_name("VALUES")
                              ->default_str(usual_value(name))
                              ->group("Fields");
    if (name == "step") option->expected(0, 1)->default_str("yes"); // --step alone
  }
  command
      .add_option(
          "--set", a.set,
          "A field of machine or network with its values: npu.spm_bytes=262144,524288; fields that change together: "
          "npu.rows,npu.cols=16,32 or =16:32,32:16; ranges: npu.rows=16..64+16, npu.spm_bytes=65536..1048576*2")
      ->type_name("FIELD=VALUES")
      ->allow_extra_args(false)
      ->take_all()
      ->group("Fields");
  command.add_flag("--list", a.list,
                   "Take the first values of all fields, then the second ones, ... instead of all combinations");
  command.add_option("--random", a.random, "Draw so many of the combinations")
      ->check(whole_number(std::uint64_t{1}, sweep::kMostPoints));
  command
      .add_option_function<std::string>(
          "--seed", [&a](const std::string &text) { a.seed = std::stoull(text); }, "By which they are drawn; default 1")
      ->type_name("UINT")
      ->check(check_whole_number);
  command.add_option("--title", a.title, "What the page is called");
}

} // namespace

void add_sweep(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<SweepArguments>(); // as long as the parser
  SweepArguments &a = *arguments;
  CLI::App *command = add_subcommand(app, "sweep");
  command->require_subcommand(0, 1);
  add_study_options(*command, a);
  command->add_option("--out", a.out, "SQLite file of the results; the same command goes on where one was ended")
      ->capture_default_str();
  add_sweep_outputs(*command, a.outputs);
  command->add_option("--shard", a.shard, "Work at the I-th of N shares, as 2/8, in a file of its own (--out)");
  command->add_option("--jobs", a.jobs, "Points at a time; default: one a core")->check(whole_number(1U, 1024U));
  command->add_flag("--quiet", a.quiet, "No progress on standard error");
  add_slurm_options(*command, a);
  command->footer("Examples:\n"
                  "  gradweave sweep --model mlp,bert_tiny --set npu.rows,npu.cols=16,32,64 --html sweep.html\n"
                  "  gradweave sweep --step --model net.onnx --set npu.rows,npu.cols=16,32,64 --html steps.html\n"
                  "  gradweave sweep study.toml --csv sweep.csv\n"
                  "  gradweave sweep study.toml --slurm --slurm-partition main --slurm-time 1:00:00\n"
                  "  gradweave sweep collect --out all.db share-1.db share-2.db --html all.html");
  add_collect(*command, chosen);
  command->callback([arguments, command, &chosen, &invocation] {
    if (!command->get_subcommands().empty()) return;
    arguments->invocation = invocation;
    chosen = [arguments](const SignalGuard &signals) { return run_sweep(*arguments, signals); };
  });
}

} // namespace gradweave::cli
