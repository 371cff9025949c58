#include "runtime/reproduce/work.hpp"

#include "runtime/progress.hpp"
#include "runtime/reproduce/evaluate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gradweave::reproduce {
namespace {

/// Work of one process: long enough to be worth it, short enough to be lost.
constexpr double kBatchSeconds = 1;

struct Batch {
  std::vector<std::size_t> units;
  double seconds = 0;
};

/// Units that the journal does not have, the longest first, packed into batches.
std::vector<Batch> pack(const WantedUnits &wanted, const runtime::Journal &journal) {
  std::vector<std::pair<double, std::size_t>> missing;
  for (std::size_t i = 0; i < wanted.units().size(); ++i)
    if (journal.find(wanted.keys()[i]) == nullptr) missing.emplace_back(estimated_seconds(wanted.units()[i]), i);
  std::sort(missing.begin(), missing.end(),
            [](const auto &a, const auto &b) { return std::tie(b.first, a.second) < std::tie(a.first, b.second); });
  std::vector<Batch> batches;
  for (const auto &[seconds, unit] : missing) {
    if (batches.empty() || batches.back().seconds >= kBatchSeconds) batches.emplace_back();
    batches.back().units.push_back(unit);
    batches.back().seconds += seconds;
  }
  return batches;
}

/// Runs in the child process: the results of the batch as a JSON array.
std::string evaluate_batch(const Batch &batch, const WantedUnits &wanted, const std::function<void(double)> &progress) {
  nlohmann::json results = nlohmann::json::array();
  for (const std::size_t unit : batch.units) {
    results.push_back(to_text(evaluate(wanted.units()[unit])));
    progress(static_cast<double>(results.size()) / static_cast<double>(batch.units.size()));
  }
  return results.dump();
}

} // namespace

std::size_t evaluate_missing(const WantedUnits &wanted, runtime::Journal &journal, unsigned jobs, bool quiet,
                             const runtime::SignalGuard &signals) {
  const std::vector<Batch> batches = pack(wanted, journal);
  std::vector<runtime::Task> tasks;
  std::vector<double> weights;
  std::size_t count = 0;
  for (const Batch &batch : batches) {
    tasks.emplace_back([&batch, &wanted](const std::function<void(double)> &progress) {
      return evaluate_batch(batch, wanted, progress);
    });
    weights.push_back(batch.seconds);
    count += batch.units.size();
  }
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), 0);

  std::string failure;
  runtime::ProgressDisplay display(weights, quiet);
  runtime::PoolEvents events;
  events.progress = [&](std::size_t task, double fraction) { display.update(task, fraction); };
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t task, const runtime::TaskEnd &end) {
    display.finish(task);
    if (!end.completed) {
      failure = fmt::format("{}, evaluating {} and others: {}", end.problem, wanted.keys()[batches[task].units.front()],
                            end.output);
      return false;
    }
    const auto results = nlohmann::json::parse(end.result);
    for (std::size_t i = 0; i < batches[task].units.size(); ++i)
      journal.append(wanted.keys()[batches[task].units[i]], results.at(i).get<std::string>());
    return true;
  };
  run_tasks(tasks, order, jobs, signals, events);
  if (!failure.empty()) throw std::runtime_error(failure);
  return count;
}

} // namespace gradweave::reproduce
