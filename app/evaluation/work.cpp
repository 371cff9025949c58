#include "app/evaluation/work.hpp"

#include "app/evaluation/unit/evaluate.hpp"
#include "base/process/progress.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
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

/// What is not kept yet, the longest first.
std::vector<Work> missing_in(const WantedUnits &wanted, const ResultsFile &kept) {
  std::vector<Work> missing;
  const auto add = [&](const auto &units, const std::vector<std::string> &keys, const auto &evaluate) {
    for (std::size_t i = 0; i < units.size(); ++i)
      if (kept.find(keys[i]) == nullptr)
        missing.push_back(
            {keys[i], estimated_seconds(units[i]), [&unit = units[i], evaluate](const std::function<void(double)> &p) {
               return to_text(evaluate(unit, p));
             }});
  };
  add(wanted.units(), wanted.keys(),
      [](const Unit &unit, const std::function<void(double)> &) { return evaluate(unit); });
  add(wanted.steps(), wanted.step_keys(),
      [](const StepUnit &unit, const std::function<void(double)> &progress) { return evaluate(unit, progress); });
  for (const Work &work : wanted.works())
    if (kept.find(work.key) == nullptr) missing.push_back(work);
  std::sort(missing.begin(), missing.end(),
            [](const Work &a, const Work &b) { return std::tie(b.seconds, a.key) < std::tie(a.seconds, b.key); });
  return missing;
}

std::vector<Batch> pack(std::vector<Work> missing) {
  std::vector<Batch> batches;
  for (Work &one : missing) {
    if (batches.empty() || batches.back().seconds >= kBatchSeconds) batches.emplace_back();
    batches.back().seconds += one.seconds;
    batches.back().parts.push_back(std::move(one));
  }
  return batches;
}

/// Runs in the child process: the results of the batch as a JSON array.
std::string evaluate_batch(const Batch &batch, const std::function<void(double)> &progress) {
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
