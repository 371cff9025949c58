#include "app/validate/graphs/campaign.hpp"

#include "base/process/progress.hpp"
#include "graph/text/print.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace gradweave::graphs {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kSeedsOfProcess = 20;
/// Graphs that are tried to shrink one: in one process, each in its own, and where one may take a minute.
constexpr std::uint32_t kRuns = 1000, kRunsApart = 300, kSlowRuns = 20;

std::string to_text(const Json &json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const Verdict &verdict) { return {static_cast<int>(verdict.outcome), verdict.message}; }

Verdict verdict_of(const Json &json) {
  return {static_cast<Outcome>(json.at(0).get<int>()), json.at(1).get<std::string>()};
}

Verdict verdict_of(const TaskEnd &end) {
  if (end.signal == SIGALRM) return {Outcome::kSlow, "it takes longer than a case may take"};
  return {Outcome::kCrashed, end.problem};
}

/// The pool of processes with one kind of task.
void run_all(std::size_t count, unsigned jobs, const SignalGuard &signals, bool quiet,
             const std::function<std::string(std::size_t, const std::function<void(double)> &)> &work,
             const std::function<void(std::size_t, const TaskEnd &)> &done) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < count; ++i)
    tasks.push_back([&work, i](const std::function<void(double)> &progress) {
      std::signal(SIGALRM, SIG_DFL);
      return work(i, progress);
    });
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  ProgressDisplay display(std::vector<double>(count, 1.0), quiet);
  PoolEvents events;
  events.progress = [&](std::size_t task, double fraction) { display.update(task, fraction); };
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t task, const TaskEnd &end) {
    display.finish(task);
    done(task, end);
    return true;
  };
  run_tasks(tasks, order, jobs, signals, events);
  display.clear();
}

class Campaign {
public:
  Campaign(const CampaignOptions &options, const SignalGuard &signals,
           const std::function<std::string(std::uint64_t)> &file_of)
      : options_(options), signals_(signals), file_of_(file_of) {}

  CampaignResult run() {
    std::vector<Range> ranges;
    for (std::uint64_t done = 0; done < options_.count; done += kSeedsOfProcess)
      ranges.push_back({options_.first + done, std::min(kSeedsOfProcess, options_.count - done)});
    while (!ranges.empty())
      ranges = run_ranges(ranges);
    std::sort(failures_.begin(), failures_.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const auto &[seed, verdict] : failures_)
      result_.failed.push_back(seed);
    shrink_failures();
    return std::move(result_);
  }

private:
  struct Range {
    std::uint64_t first, count;
  };

  void note(std::uint64_t seed, const Verdict &verdict) {
    ++result_.counts.at(static_cast<std::size_t>(verdict.outcome));
    if (is_failure(verdict.outcome)) failures_.emplace_back(seed, verdict);
  }

  /// In the process of a range. What it prints last tells at which seed it crashed.
  std::string run_range(const Range &range, const std::function<void(double)> &progress) const {
    Json verdicts = Json::array();
    for (std::uint64_t i = 0; i < range.count; ++i) {
      std::printf("seed %llu\n", static_cast<unsigned long long>(range.first + i));
      std::fflush(stdout);
      alarm(options_.seconds);
      verdicts.push_back(json_of(run_case(draw_case(range.first + i, options_.cases))));
      alarm(0);
      progress(static_cast<double>(i + 1) / static_cast<double>(range.count));
    }
    return to_text(verdicts);
  }

  /// What is left of ranges in which a process crashed.
  std::vector<Range> run_ranges(const std::vector<Range> &ranges) {
    std::vector<Range> left;
    run_all(
        ranges.size(), options_.jobs, signals_, options_.quiet,
        [&](std::size_t i, const auto &progress) { return run_range(ranges[i], progress); },
        [&](std::size_t i, const TaskEnd &end) {
          const Range &range = ranges[i];
          if (end.completed) {
            const Json verdicts = Json::parse(end.result);
            for (std::uint64_t s = 0; s < range.count; ++s)
              note(range.first + s, verdict_of(verdicts.at(s)));
            return;
          }
          const std::size_t at = end.output.rfind("seed ");
          const std::uint64_t seed = at == std::string::npos ? range.first : std::stoull(end.output.substr(at + 5));
          note(seed, verdict_of(end));
          if (seed > range.first) left.push_back({range.first, seed - range.first});
          if (seed + 1 < range.first + range.count) left.push_back({seed + 1, range.first + range.count - seed - 1});
        });
    return left;
  }

  /// Runs a case in a process of its own, which may crash.
  Verdict run_apart(const GraphCase &graph_case) const {
    Verdict verdict;
    run_all(
        1, 1, signals_, true,
        [&](std::size_t, const auto &) {
          alarm(options_.seconds);
          return to_text(json_of(run_case(graph_case)));
        },
        [&](std::size_t, const TaskEnd &end) {
          verdict = end.completed ? verdict_of(Json::parse(end.result)) : verdict_of(end);
        });
    return verdict;
  }

  Finding finding_of(std::uint64_t seed, const Verdict &verdict, const RunCase &run, std::uint32_t most) const {
    const Shrunk shrunk = shrink(draw_case(seed, options_.cases), verdict, run, most);
    return {seed, shrunk.verdict, graph::print_graph(shrunk.graph_case.network),
            command_of(shrunk.graph_case, file_of_(seed)), shrunk.graph_case.network.ops.size()};
  }

  static bool ends_process(const Verdict &verdict) {
    return verdict.outcome == Outcome::kCrashed || verdict.outcome == Outcome::kSlow;
  }

  void shrink_failures() {
    std::map<std::pair<Outcome, std::string>, std::size_t> seen;
    std::vector<std::pair<std::uint64_t, Verdict>> chosen;
    for (const auto &failure : failures_)
      if (seen[{failure.second.outcome, kind_of(failure.second)}]++ < options_.shrunk) chosen.push_back(failure);
    std::vector<std::optional<Finding>> found(chosen.size());
    run_all(
        chosen.size(), options_.jobs, signals_, options_.quiet,
        [&](std::size_t i, const auto &) {
          if (ends_process(chosen[i].second)) return std::string();
          const Finding finding = finding_of(chosen[i].first, chosen[i].second, run_case, kRuns);
          return to_text({json_of(finding.verdict), finding.text, finding.command, finding.ops});
        },
        [&](std::size_t i, const TaskEnd &end) {
          if (!end.completed || end.result.empty()) return;
          const Json json = Json::parse(end.result);
          found[i] = Finding{chosen[i].first, verdict_of(json.at(0)), json.at(1), json.at(2), json.at(3)};
        });
    // What crashes, or has a smaller graph that crashes: each run in a process of its own.
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (!found[i])
        found[i] = finding_of(
            chosen[i].first, chosen[i].second, [this](const GraphCase &c) { return run_apart(c); },
            chosen[i].second.outcome == Outcome::kSlow ? kSlowRuns : kRunsApart);
    for (std::optional<Finding> &finding : found)
      result_.findings.push_back(std::move(*finding));
  }

  const CampaignOptions &options_;
  const SignalGuard &signals_;
  const std::function<std::string(std::uint64_t)> &file_of_;
  std::vector<std::pair<std::uint64_t, Verdict>> failures_;
  CampaignResult result_;
};

} // namespace

CampaignResult run_campaign(const CampaignOptions &options, const SignalGuard &signals,
                            const std::function<std::string(std::uint64_t seed)> &file_of) {
  return Campaign(options, signals, file_of).run();
}

} // namespace gradweave::graphs
