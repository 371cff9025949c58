#include "app/cli/sweep/slurm_run.hpp"

#include "app/cli/common/work.hpp"
#include "app/cli/sweep/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

namespace gradweave::cli {
namespace {

namespace fs = std::filesystem;
using sweep::Shards;

constexpr double kTaskSeconds = 60;
constexpr double kMostTasks = 100; ///< unless the user says more: arrays are limited to a thousand or so
constexpr std::chrono::seconds kLookEvery{2};

/// `used`: jobs wait for shares, or have begun.
std::size_t shares_of(const SlurmRun &run, const Shards &shards, const std::vector<sweep::Work> &work, bool used) {
  const std::size_t there = used ? shards.count() : 0;
  if (there != 0 && run.options.tasks != 0 && run.options.tasks != there)
    throw std::invalid_argument(fmt::format("--slurm-tasks {}: {} has the work in {} shares already; leave the option "
                                            "out, or name another file with --out",
                                            run.options.tasks, shards.directory().string(), there));
  if (there != 0) return there;
  if (run.options.tasks != 0) return run.options.tasks;
  double seconds = 0;
  for (const sweep::Work &one : work)
    seconds += one.seconds;
  return static_cast<std::size_t>(std::clamp(std::ceil(seconds / run.options.cores / kTaskSeconds), 1.0, kMostTasks));
}

/// Those with work that has no result.
std::set<std::size_t> unfinished(sweep::Store &store, const std::vector<sweep::Work> &work, std::size_t shares) {
  std::set<std::size_t> open;
  for (std::size_t share = 1; share <= shares; ++share) {
    std::vector<std::string> keys;
    for (const sweep::Work &one : share_of(work, share, shares))
      keys.push_back(one.key);
    if (!store.missing(keys).empty()) open.insert(share);
  }
  return open;
}

void wait_for(const Shards &shards, bool quiet, const SignalGuard &signals) {
  std::size_t last = 0;
  for (;;) {
    const std::set<std::size_t> left = shares_in_queue(shards);
    if (!quiet && left.size() != last) std::fprintf(stderr, "gradweave: %zu shares wait or run\n", left.size());
    last = left.size();
    if (left.empty()) return;
    signals.check();
    std::this_thread::sleep_for(kLookEvery);
  }
}

} // namespace

bool run_on_slurm(const SlurmRun &run, sweep::Store &store, const std::vector<sweep::Work> &work,
                  const SignalGuard &signals) {
  const Shards shards(run.out);
  const std::set<std::size_t> busy = shares_in_queue(shards);
  const std::vector<fs::path> files = shards.files();
  merge_all(store, files);
  const std::size_t count = shares_of(run, shards, work, !files.empty() || !busy.empty());
  std::set<std::size_t> open = unfinished(store, work, count);
  if (open.empty() && busy.empty()) return true;
  for (const std::size_t share : busy)
    open.erase(share);
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  if (!open.empty()) {
    shards.make(run.study, program, count, run.options);
    const std::string job = submit(shards, open);
    std::fprintf(stderr, "gradweave: job %s of Slurm works at %zu of %zu shares (%s); logs are in %s\n", job.c_str(),
                 open.size(), count, sweep::ranges(open).c_str(), shards.directory().c_str());
  } else {
    std::fprintf(stderr, "gradweave: jobs of Slurm are at all shares that are left (%s)\n",
                 sweep::ranges(busy).c_str());
  }
  if (!run.options.wait) {
    std::fprintf(stderr,
                 "gradweave: once they have ended, the same command collects them, and submits what is missing; "
                 "meanwhile: %s sweep collect --out %s %s\n",
                 shell_word(program).c_str(), shell_word(run.out).c_str(),
                 shell_word(shards.directory().string()).c_str());
    return false;
  }
  wait_for(shards, run.quiet, signals);
  merge_all(store, shards.files());
  return true;
}

} // namespace gradweave::cli
