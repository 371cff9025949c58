#include "app/cli/run/long_run.hpp"
#include "app/cli/common/work.hpp"
#include "app/report/text_format.hpp"
#include "base/file/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;
using runtime::RecordedRun;
using runtime::RunOptions;
using runtime::RunState;

constexpr double kTellSeconds = 5;
constexpr double kRecordSeconds = 60;
constexpr double kBackgroundSeconds = 600;

unsigned workers(const RunOptions &options) {
  return std::min(options.jobs, std::max(1U, std::thread::hardware_concurrency()));
}

std::string report_file(const fs::path &directory) { return (directory / "report.txt").string(); }
std::string log_file(const fs::path &directory) { return (directory / "log.txt").string(); }

void check(const CosimArguments &a) {
  if (a.background != "no" && a.resume == "never")
    throw std::invalid_argument("--resume never: a run in the background is always recorded; leave out one of "
                                "--resume and --background, or use --fresh");
  if (a.background == "yes")
    for (const auto &[option, path] :
         {std::pair("--json", a.json), {"--html", a.html}, {"--times", a.times}, {"--timeline", a.timeline}})
      if (path == "-")
        throw std::invalid_argument(
            fmt::format("{} -: a run in the background has no standard output; name a file", option));
}

bool writes_to_stdout(const CosimArguments &a) {
  return a.json == "-" || a.html == "-" || a.times == "-" || a.timeline == "-";
}

/// Files of finished jobs are not in the record, so that these jobs have to be run again.
bool writes_job_files(const RunOptions &options) {
  return !options.trace.file.empty() || !options.trace_dir.empty() || !options.times.empty() ||
         !options.timeline.empty() || options.sketch;
}

void tell_what_is_kept(const runtime::RunRecord &record, const RunOptions &options) {
  const std::vector<runtime::JobSpec> specs = job_specs(options);
  const auto kept =
      std::count_if(specs.begin(), specs.end(), [&](const auto &spec) { return record.kept(spec).has_value(); });
  if (kept != 0)
    std::fprintf(stderr,
                 "gradweave: %ld of %zu jobs were finished by an interrupted run and are taken from it; --fresh "
                 "runs them again\n",
                 static_cast<long>(kept), specs.size());
  if (record.damaged_lines() != 0)
    std::fprintf(stderr,
                 "gradweave: %s: %zu lines are incomplete or were changed and are left out; their jobs run again\n",
                 (record.directory() / "journal.jsonl").c_str(), record.damaged_lines());
  if (const std::size_t foreign = record.foreign(specs); foreign != 0)
    std::fprintf(stderr,
                 "gradweave: %zu finished jobs are not used: another build of gradweave or of the NPU ran them\n",
                 foreign);
}

void print_run(const RecordedRun &run) {
  std::string state;
  switch (run.state) {
  case RunState::kRunning:
    state = fmt::format("running{} as process {} of {} since {}", run.background ? " in the background" : "", run.pid,
                        run.host, run.started);
    break;
  case RunState::kInterrupted:
    state = "interrupted at about " + run.updated;
    break;
  case RunState::kEnded:
    state = fmt::format("{} at {}", verdict(run.outcome), run.updated);
    break;
  }
  Progress progress = run.progress;
  if (run.state != RunState::kRunning) progress.seconds_left.reset();
  fmt::print("{}\n  {}\n  {}\n", run.id, state, describe(progress));
  if (run.state == RunState::kInterrupted) fmt::print("  go on      {}\n", run.command);
  if (!run.background) return;
  fmt::print("  report     {}\n  log        {}\n", report_file(run.directory), log_file(run.directory));
  if (run.state == RunState::kRunning) fmt::print("  stop       gradweave cosim --stop {}\n", run.id);
}

void redirect(int to, const std::string &file, int flags) {
  const int fd = ::open(file.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), file);
  ::dup2(fd, to);
  ::close(fd);
}

} // namespace

RunPlan plan_run(const CosimArguments &a, const RunOptions &options) {
  check(a);
  RunPlan plan;
  plan.support.expected = estimate(job_specs(options), runtime::known_speed(options.config, options.backend));
  const runtime::Estimate &expected = plan.support.expected;
  const double seconds = expected.wall_seconds(workers(options));
  plan.background =
      a.background == "yes" || (a.background == "auto" && seconds >= kBackgroundSeconds && !writes_to_stdout(a));
  if (!a.quiet && (seconds >= kTellSeconds || plan.background))
    std::fprintf(stderr, "gradweave: estimate: about %s cycles at %s cycles/s (%s): %s with %u jobs at a time\n",
                 runtime::human(static_cast<double>(expected.cycles())).c_str(),
                 runtime::human(expected.speed.cycles_per_second).c_str(), expected.speed.source.c_str(),
                 duration(seconds).c_str(), options.jobs);
  if (!plan.background && (a.resume == "never" || (a.resume == "auto" && seconds < kRecordSeconds))) return plan;

  try {
    plan.record = std::make_unique<runtime::RunRecord>(options, a.fresh || writes_job_files(options));
  } catch (const JournalInUse &) {
    if (plan.background) {
      plan.running = runtime::run_id(options);
      return plan;
    }
    if (!a.quiet)
      std::fprintf(stderr, "gradweave: another process is at the same run: this one is not recorded and cannot be "
                           "resumed\n");
    return plan;
  } catch (const OutputError &error) {
    if (plan.background || a.resume == "always") throw;
    if (!a.quiet) std::fprintf(stderr, "gradweave: this run cannot be resumed: %s\n", error.what());
    return plan;
  }
  plan.support.record = plan.record.get();
  if (!a.quiet) tell_what_is_kept(*plan.record, options);
  return plan;
}

bool continue_in_background(const RunPlan &plan, const std::string &program, SignalGuard &signals) {
  const fs::path &directory = plan.record->directory();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    signals.continue_after_fork();
    ::setsid(); // out of reach of the terminal's signals
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, report_file(directory), O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, log_file(directory), O_WRONLY | O_CREAT | O_TRUNC);
    return true;
  }
  fmt::print("STARTED in the background as process {0}: nothing is checked before it ends\n"
             "run        {1}\n"
             "report     {2}\n"
             "log        {3}\n"
             "status     {4} cosim --status {1}\n"
             "stop       {4} cosim --stop {1}; what is finished is kept, and the same command goes on from there\n",
             pid, plan.record->id(), report_file(directory), log_file(directory), shell_word(program));
  return false;
}

int show_runs(const std::string &id) {
  const std::vector<RecordedRun> runs =
      id.empty() ? runtime::recorded_runs() : std::vector<RecordedRun>{runtime::recorded_run(id)};
  if (runs.empty()) fmt::print("no run is recorded in {}\n", runtime::records_directory().string());
  bool interrupted = false;
  bool running = false;
  auto worst = runtime::Outcome::kPass;
  for (const RecordedRun &run : runs) {
    print_run(run);
    interrupted = interrupted || run.state == RunState::kInterrupted;
    running = running || run.state == RunState::kRunning;
    if (run.state == RunState::kEnded) worst = std::max(worst, run.outcome);
  }
  if (worst != runtime::Outcome::kPass) return exit_code(worst);
  if (interrupted) return kInterrupted;
  return running ? kRunning : kOk;
}

int stop(const std::string &id) {
  const RecordedRun run = runtime::recorded_run(id);
  if (run.state != RunState::kRunning)
    throw std::invalid_argument(fmt::format("--stop {}: it is not running; gradweave cosim --status tells more", id));
  stop_run(run);
  fmt::print("stopped; to go on: {}\n", run.command);
  return kOk;
}

} // namespace gradweave::cli
