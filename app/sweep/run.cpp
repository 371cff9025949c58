#include "app/sweep/run.hpp"

#include "base/process/progress.hpp"
#include "base/process/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace gradweave::sweep {
namespace {

/// Work of one process: long enough to be worth it, short enough to be lost.
constexpr double kBatchSeconds = 0.25;
constexpr std::chrono::milliseconds kWaitForOthers{200};

void longest_first(std::vector<Work> &work) {
  std::sort(work.begin(), work.end(),
            [](const Work &a, const Work &b) { return std::tie(b.seconds, a.key) < std::tie(a.seconds, b.key); });
}

Result evaluate(const Work &work) {
  const Stopwatch stopwatch;
  Result result;
  try {
    result = work.evaluate();
  } catch (const std::exception &error) {
    result.outcome = Outcome::kFailed;
    result.problem = error.what();
  }
  result.seconds = stopwatch.wall_seconds();
  return result;
}

/// A run over the points that are missing.
class Runner {
public:
  Runner(Store &store, std::vector<Work> missing, unsigned jobs, bool quiet, const SignalGuard &signals)
      : store_(store), work_(std::move(missing)), jobs_(jobs), signals_(signals), display_(weights(work_), quiet) {
    for (std::size_t i = 0; i < work_.size(); ++i)
      left_.insert(i);
  }

  std::size_t run() {
    while (!left_.empty()) {
      round(pack());
      if (work_all_taken()) wait();
    }
    display_.clear();
    return done_;
  }

private:
  using Batch = std::vector<std::size_t>; ///< indices into the work

  static std::vector<double> weights(const std::vector<Work> &work) {
    std::vector<double> all;
    for (const Work &one : work)
      all.push_back(one.seconds);
    return all;
  }

  /// What is left, in batches. After a process has died with several points, each goes by itself: one is to blame.
  std::vector<Batch> pack() const {
    std::vector<Batch> batches;
    double seconds = kBatchSeconds;
    for (const std::size_t i : left_) {
      if (seconds >= kBatchSeconds || suspects_.count(i) != 0) {
        batches.emplace_back();
        seconds = 0;
      }
      batches.back().push_back(i);
      seconds += suspects_.count(i) != 0 ? kBatchSeconds : work_[i].seconds;
    }
    return batches;
  }

  void round(std::vector<Batch> batches) {
    taken_.clear();
    std::vector<Task> tasks;
    for (const Batch &batch : batches)
      tasks.emplace_back([this, &batch](const std::function<void(double)> &progress) {
        std::vector<Result> results;
        for (const std::size_t i : batch) {
          results.push_back(evaluate(work_[i]));
          progress(static_cast<double>(results.size()) / static_cast<double>(batch.size()));
        }
        return to_json(results);
      });
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0);
    PoolEvents events;
    events.starting = [&](std::size_t task) { claim(batches[task]); };
    events.progress = [&](std::size_t task, double fraction) { advance(batches[task], fraction); };
    events.tick = [&] { display_.tick(); };
    events.ended = [&](std::size_t task, const TaskEnd &end) {
      keep(batches[task], end);
      return true;
    };
    run_tasks(tasks, order, jobs_, signals_, events);
  }

  /// Leaves in the batch what this process got.
  void claim(Batch &batch) {
    Batch got;
    for (const std::size_t i : batch)
      if (store_.claim(work_[i].key))
        got.push_back(i);
      else
        taken_.insert(i);
    batch = std::move(got);
  }

  void advance(const Batch &batch, double fraction) {
    const auto ended = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(batch.size())));
    for (std::size_t at = 0; at < std::min(ended, batch.size()); ++at)
      display_.update(batch[at], 1);
  }

  void keep(const Batch &batch, const TaskEnd &end) {
    if (!end.completed && batch.size() > 1) {
      suspects_.insert(batch.begin(), batch.end());
      for (const std::size_t i : batch)
        store_.release(work_[i].key);
      return;
    }
    std::vector<Result> results;
    if (end.completed) {
      results = from_json(end.result);
    } else {
      results.resize(batch.size());
      for (Result &result : results) {
        result.outcome = Outcome::kFailed;
        result.problem =
            fmt::format("its process died: {}{}{}", end.problem, end.output.empty() ? "" : "; ", end.output);
      }
    }
    for (std::size_t at = 0; at < batch.size(); ++at) {
      store_.keep(work_[batch[at]].key, results.at(at));
      finish(batch[at]);
      ++done_;
    }
  }

  void finish(std::size_t i) {
    display_.finish(i);
    left_.erase(i);
  }

  bool work_all_taken() const { return !left_.empty() && taken_.size() == left_.size(); }

  /// Others are at all that is left: until they are done, or one of them is no more.
  void wait() {
    signals_.check();
    display_.tick();
    std::this_thread::sleep_for(kWaitForOthers);
    std::vector<std::string> keys;
    for (const std::size_t i : left_)
      keys.push_back(work_[i].key);
    const std::vector<std::string> missing = store_.missing(keys);
    const std::unordered_set<std::string> still(missing.begin(), missing.end());
    const std::set<std::size_t> before = left_;
    for (const std::size_t i : before)
      if (still.count(work_[i].key) == 0) finish(i);
  }

  Store &store_;
  std::vector<Work> work_;
  unsigned jobs_;
  const SignalGuard &signals_;
  ProgressDisplay display_;
  std::set<std::size_t> left_;               ///< indices of the work without a result
  std::unordered_set<std::size_t> taken_;    ///< of the last round, by others
  std::unordered_set<std::size_t> suspects_; ///< a process died with them and others
  std::size_t done_ = 0;
};

} // namespace

std::vector<Work> share_of(std::vector<Work> work, std::size_t i, std::size_t n) {
  longest_first(work);
  std::vector<Work> share;
  for (std::size_t at = i - 1; at < work.size(); at += n)
    share.push_back(std::move(work[at]));
  return share;
}

RunCount run(Store &store, std::vector<Work> work, unsigned jobs, bool quiet, const SignalGuard &signals) {
  std::vector<std::string> keys;
  for (const Work &one : work)
    keys.push_back(one.key);
  const std::vector<std::string> missing = store.missing(keys);
  const std::unordered_set<std::string> wanted(missing.begin(), missing.end());
  RunCount count;
  count.known = work.size() - missing.size();
  work.erase(std::remove_if(work.begin(), work.end(), [&](const Work &one) { return wanted.count(one.key) == 0; }),
             work.end());
  longest_first(work);
  count.done = Runner(store, std::move(work), jobs, quiet, signals).run();
  count.others = missing.size() - count.done;
  return count;
}

} // namespace gradweave::sweep
