#include "app/evaluation/work.hpp"

#include "app/evaluation/unit/evaluate.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "base/process/peak_memory.hpp"
#include "base/process/progress.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gradweave::evaluation {
namespace {

/// Work of one process: long enough to be worth it, short enough to be lost.
constexpr double kBatchSeconds = 1;

struct Batch {
  std::vector<Work> parts;
  double seconds = 0;
};

/// Work of a unit; work of a group finds what that before it searched, if one process does both.
struct GroupedWork : Work {
  std::string group;
};

/// Units of a group have the same plans: dY read once, or as often as it is (figure 6).
std::string group_of(Unit unit) {
  unit.variant.dy_once = false;
  return key_of(unit, {});
}

/// What is not kept yet, the longest first.
std::vector<GroupedWork> missing_in(const WantedUnits &wanted, const ResultsFile &kept) {
  std::vector<GroupedWork> missing;
  const auto add = [&](Work work, const std::string &group) {
    if (kept.find(work.key) == nullptr) missing.push_back({std::move(work), group});
  };
  std::map<std::string, std::shared_ptr<compiler::CompileCache>> caches; // filled in the processes that use them
  for (std::size_t i = 0; i < wanted.units().size(); ++i) {
    const Unit &unit = wanted.units()[i];
    const std::string group = group_of(unit);
    std::shared_ptr<compiler::CompileCache> &cache = caches[group];
    if (!cache) cache = std::make_shared<compiler::CompileCache>();
    add({wanted.keys()[i], estimated_seconds(unit),
         [&unit, cache](const std::function<void(double)> &) { return to_text(evaluate(unit, *cache)); }},
        group);
  }
  for (std::size_t i = 0; i < wanted.steps().size(); ++i) {
    const StepUnit &unit = wanted.steps()[i];
    add({wanted.step_keys()[i], estimated_seconds(unit),
         [&unit](const std::function<void(double)> &progress) { return to_text(evaluate(unit, progress)); }},
        wanted.step_keys()[i]);
  }
  for (const Work &work : wanted.works())
    add(work, work.key);
  std::sort(missing.begin(), missing.end(), [](const GroupedWork &a, const GroupedWork &b) {
    return std::tie(b.seconds, a.group, a.key) < std::tie(a.seconds, b.group, b.key);
  });
  return missing;
}

std::vector<Batch> pack(std::vector<GroupedWork> missing) {
  std::vector<Batch> batches;
  std::string last;
  for (GroupedWork &one : missing) {
    const bool begins = batches.empty() || batches.back().seconds >= kBatchSeconds;
    if (begins && one.group != last) batches.emplace_back();
    last = one.group;
    batches.back().seconds += one.seconds;
    batches.back().parts.push_back(std::move(one));
  }
  return batches;
}

/// Runs in the child process: the results of the batch as a JSON array.
std::string evaluate_batch(const Batch &batch, const std::function<void(double)> &progress) {
  keep_freed_memory(); // of programs of up to millions of actions, one after the other
  nlohmann::json results = nlohmann::json::array();
  const auto of = static_cast<double>(batch.parts.size());
  for (const Work &one : batch.parts) {
    const auto done = static_cast<double>(results.size());
    results.push_back(one.evaluate([&](double fraction) { progress((done + fraction) / of); }));
    progress((done + 1) / of);
  }
  return results.dump();
}

} // namespace

std::size_t evaluate_missing(const WantedUnits &wanted, ResultsFile &kept, unsigned jobs, bool quiet,
                             const SignalGuard &signals) {
  const std::vector<Batch> batches = pack(missing_in(wanted, kept));
  std::vector<Task> tasks;
  std::vector<double> weights;
  std::size_t count = 0;
  for (const Batch &batch : batches) {
    tasks.emplace_back(
        [&batch](const std::function<void(double)> &progress) { return evaluate_batch(batch, progress); });
    weights.push_back(batch.seconds);
    count += batch.parts.size();
  }
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);

  std::string failure;
  ProgressDisplay display(weights, quiet);
  PoolEvents events;
  events.progress = [&](std::size_t task, double fraction) { display.update(task, fraction); };
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t task, const TaskEnd &end) {
    display.finish(task);
    if (!end.completed) {
      failure =
          fmt::format("{}, evaluating {} and others: {}", end.problem, batches[task].parts.front().key, end.output);
      return false;
    }
    const auto results = nlohmann::json::parse(end.result);
    for (std::size_t i = 0; i < batches[task].parts.size(); ++i)
      kept.keep(batches[task].parts[i].key, results.at(i).get<std::string>());
    return true;
  };
  run_tasks(tasks, order, jobs, signals, events);
  if (!failure.empty()) throw std::runtime_error(failure);
  return count;
}

} // namespace gradweave::evaluation
