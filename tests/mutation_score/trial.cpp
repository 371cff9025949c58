#include "tests/mutation_score/trial.hpp"

#include "base/process/stopwatch.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace gradweave::mutation {

namespace {

constexpr rlim_t kFile = rlim_t{64} << 20U;
constexpr std::array<const char *, 3> kNames = {"survived", "killed", "timeout"};

/// A step below the hard limit, at which SIGKILL would not say why.
void limit(int resource, rlim_t value) {
  const rlimit limits{value, value + 1};
  setrlimit(static_cast<__rlimit_resource>(resource), &limits);
}

/// In the child; only returns if the command cannot be run.
void become(const PlannedTest &test, unsigned number, const Limits &limits, const std::string &log) {
  setpgid(0, 0); // so that all of its processes can be ended at once
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.cpu_seconds)));
  limit(RLIMIT_FSIZE, kFile);
  // Address space cannot be limited, devices reserve plenty; but whoever runs out of memory, this process goes first.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  setenv("GW_MUTANT", std::to_string(number).c_str(), 1);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  std::vector<char *> words;
  for (const std::string &word : test.command)
    words.push_back(const_cast<char *>(word.c_str())); // as execvp wants it
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

/// The first line that tells what is wrong.
std::string reason(const std::string &log) {
  static const std::regex kTelling(
      "FAILED:|Assertion|[Ff]ailure|^error|first difference|^  counter|the run ends|mismatch");
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line, kTelling)) return line.substr(0, 160);
  return "";
}

} // namespace

std::string outcome_name(Outcome outcome) { return kNames.at(static_cast<std::size_t>(outcome)); }

TestRun run_test(const PlannedTest &test, unsigned number, const Limits &limits, const std::string &log) {
  constexpr int kCannotStart = 127;
  const Stopwatch watch;
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    become(test, number, limits, log);
    _exit(kCannotStart);
  }
  TestRun run;
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    if (watch.wall_seconds() > limits.wall_seconds) {
      kill(-child, SIGKILL);
      run.outcome = Outcome::kTimeout;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-child, SIGKILL); // what it may have left behind
  run.wall_seconds = watch.wall_seconds();
  const auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  run.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (run.outcome == Outcome::kTimeout) return run;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    run.outcome = signal == SIGXCPU ? Outcome::kTimeout : Outcome::kFailed;
    run.how = fmt::format("signal {}", signal);
  } else if (WEXITSTATUS(status) == kCannotStart) {
    throw std::runtime_error(
        fmt::format("the test '{}' cannot be started: {}; is it built?", test.name, test.command[0]));
  } else if (WEXITSTATUS(status) != 0) {
    run.outcome = Outcome::kFailed;
    run.how = fmt::format("exit code {}", WEXITSTATUS(status));
  }
  if (run.outcome == Outcome::kFailed)
    if (const std::string line = reason(log); !line.empty()) run.how += ": " + line;
  return run;
}

Verdict try_mutant(const std::vector<PlannedTest> &tests, unsigned number, const std::map<std::string, Limits> &limits,
                   const std::string &log) {
  Verdict verdict;
  for (const PlannedTest &test : tests) {
    const TestRun run = run_test(test, number, limits.at(test.name), log);
    verdict.cpu_seconds += run.cpu_seconds;
    if (run.outcome == Outcome::kPassed) continue;
    verdict.outcome = run.outcome;
    verdict.test = test.name;
    verdict.how = run.how;
    break;
  }
  return verdict;
}

std::string to_json(const Verdict &verdict) {
  return nlohmann::json{{"outcome", static_cast<int>(verdict.outcome)},
                        {"test", verdict.test},
                        {"how", verdict.how},
                        {"cpu_seconds", verdict.cpu_seconds}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Verdict verdict_from_json(const std::string &text) {
  const nlohmann::json from = nlohmann::json::parse(text);
  return {static_cast<Outcome>(from.at("outcome").get<int>()), from.at("test"), from.at("how"), from.at("cpu_seconds")};
}

} // namespace gradweave::mutation
