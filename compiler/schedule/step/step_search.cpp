#include "compiler/schedule/step/step_search.hpp"
#include "base/process/parallel.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/schedule/step/step_walk.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>

namespace gradweave::compiler {
namespace {

/// Bursts and commands that are simulated for a change, on average at most.
constexpr std::uint64_t kChangeWork = 30'000;
/// Or one part of so many of what was simulated to weave sections, to share tiles and to put gradients off, if that is
/// more.
constexpr std::uint64_t kAfterWeaving = 8;
/// A part of so many of the changes is tried from each beginning before half of them are given up.
constexpr std::uint64_t kParts = 8;
/// Changes of two neighbours at most that are tried to weave them.
constexpr std::uint64_t kWeavings = 500;
/// Weaving, parts and gradients are tried again as long as a round gains more than one part of so many of the cost.
constexpr std::uint64_t kRoundGain = 500;
/// From the second round on a pair that has gained nothing by one part of so many of its changes is left as it is,
/// unless there are sections of the vector unit, whose runs do not change once more.
constexpr std::uint64_t kLaterPatience = 4;
/// From a placement, a pair that has gained nothing by one part of so many of them is left as it is.
constexpr std::uint64_t kPatience = 8;
/// From a placement, walks from conventional plans that are found late take one part of so many of the work of all
/// others, or end where they begin.
constexpr std::uint64_t kLateShare = 8;
/// Changes of runs that are woven take one part of so many of the work of all before.
constexpr std::uint64_t kRunsShare = 2;

class StepSearch {
public:
  StepSearch(const std::vector<Layer> &layers, const Machine &npu, const StepOptions &options)
      : layers_(layers), npu_(npu), options_(options), layout_(make_layout(layers, options.pass, npu)),
        threads_(options.threads != 0 ? options.threads : usable_cores()), walk_threads_(threads_),
        own_(layers, options.pass, layout_, npu, options.layer_plans, options.objective, [this] { tell_locked(); }),
        beside_(own_.machine().tiles, options.layer_plans, options.objective, [this] { tell_locked(); }),
        thrifty_beside_(own_.machine().tiles, options.layer_plans, Objective::kEdp, [this] { tell_locked(); }),
        weaves_again_(options.weave_again && options.step_plans > 0 && options.start == StepStart::kReuse &&
                      options.objective == Objective::kCycles) {}

  SearchedStep run();

private:
  using Walk = std::unique_ptr<StepWalk>;

  void plan_layers();
  std::vector<Walk> begin_all();
  Walk make_walk() {
    auto walk = std::make_unique<StepWalk>(layers_, layout_, own_, beside_, progress_, options_.objective);
    walk->use(walk_threads_);
    return walk;
  }
  Walk begin(std::size_t level);
  void weave(StepWalk &walk);
  void weave_in_rounds(StepWalk &walk);
  SearchWork walk_from_conventional(bool to_go_on);
  SearchWork go_on(const std::function<void(StepWalk &)> &work);
  void keep_up(SearchWork &late);
  void weave_thriftily();
  void change_runs();
  void count(const Walk &walk);
  static std::vector<Walk> best_first(std::vector<Walk> walks);
  void run_until(StepWalk &walk, std::uint64_t changes);
  void end(const StepWalk &walk);
  void take(const StepWalk &walk);
  std::uint64_t part() const { return options_.step_plans / kParts; }
  std::size_t levels();
  void for_each(std::vector<Walk> &walks, const std::function<void(Walk &)> &work);
  void search_together();
  void search_conventional();
  void add_layers();
  void report(std::uint64_t done);
  void tell();
  void tell_locked() {
    const std::lock_guard<std::mutex> lock(mutex_);
    tell();
  }

  const std::vector<Layer> &layers_;
  const Machine &npu_;
  const StepOptions &options_;
  Layout layout_;
  unsigned threads_, walk_threads_; ///< in all, and that a walk may use
  StepPlans own_;
  PlansBeside beside_, thrifty_beside_; ///< by the objective, and by energy times cycles
  bool weaves_again_;                   ///< at last, with the latter, too
  SearchedStep found_;
  SearchWork together_; ///< of all walks
  Walk best_;           ///< the fastest of those that were woven, and of those from conventional plans
  std::mutex mutex_;    ///< of what threads share, which is only this:
  std::uint64_t changes_ = 0, done_ = 0;
  std::exception_ptr abandoned_; ///< what the progress threw
  double walked_seconds_ = 0;    ///< of one core
  std::function<void()> progress_ = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = 2 * layers_.size() + std::min(options_.step_plans, changes_++ / 3);
    tell();
  };
};

void StepSearch::report(std::uint64_t done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_ = done;
  tell();
}

/// Under the lock. What the progress throws once ends every thread, each at its next plan.
void StepSearch::tell() {
  if (abandoned_) std::rethrow_exception(abandoned_);
  if (!options_.progress) return;
  try {
    options_.progress(done_, 4 * layers_.size() + options_.step_plans);
  } catch (...) {
    abandoned_ = std::current_exception();
    throw;
  }
}

void StepSearch::plan_layers() {
  std::uint64_t done = 0;
  own_.prepare(threads_, [&] { report(++done); });
}

std::size_t StepSearch::levels() {
  std::size_t most = 0;
  own_.for_passes([&](std::size_t i, Pass pass) { most = std::max(most, own_.of(i, pass).levels.size()); });
  return most;
}

/// Walks go side by side, on all cores: each on one of its own, or those that are left at last on as many as there are.
void StepSearch::for_each(std::vector<Walk> &walks, const std::function<void(Walk &)> &work) {
  const auto go = [&](std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    const double before = walks[i] ? walks[i]->seconds_beside() : 0;
    work(walks[i]);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::lock_guard<std::mutex> lock(mutex_);
    walked_seconds_ += seconds + walks[i]->seconds_beside() - before;
  };
  const auto go_all = [&](std::size_t first, std::size_t end) {
    if (first == end) return;
    walk_threads_ = static_cast<unsigned>(std::max<std::size_t>(1, threads_ / (end - first)));
    for (std::size_t i = first; i < end; ++i)
      if (walks[i]) walks[i]->use(walk_threads_);
    for_each_in_parallel(end - first, threads_, [&](std::size_t i) { go(first + i); });
  };
  const std::size_t side_by_side = walks.size() / threads_ * threads_;
  go_all(0, side_by_side);
  go_all(side_by_side, walks.size());
  walk_threads_ = threads_;
}

/// Begins with the layers' plans of each level, for faster layers do not always make a faster step.
std::vector<StepSearch::Walk> StepSearch::begin_all() {
  std::vector<Walk> begun(levels());
  for_each(begun, [&](Walk &walk) { walk = begin(static_cast<std::size_t>(&walk - begun.data())); });
  std::vector<Walk> walks;
  for (Walk &walk : begun) {
    count(walk);
    const bool is_new = std::none_of(walks.begin(), walks.end(), [&](const Walk &other) {
      return other->first_cost() == walk->first_cost() && other->cost() == walk->cost();
    });
    if (is_new) walks.push_back(std::move(walk));
  }
  return walks;
}

StepSearch::Walk StepSearch::begin(std::size_t level) {
  auto walk = make_walk();
  walk->begin(level);
  if (options_.start == StepStart::kPlacement)
    walk->try_placement();
  else if (options_.step_plans > 0)
    walk->try_reuse();
  return walk;
}

void StepSearch::count(const Walk &walk) {
  ++found_.starts;
  found_.first_cost = walk->first_cost();
}

/// Of equally fast ones, the first comes first.
std::vector<StepSearch::Walk> StepSearch::best_first(std::vector<Walk> walks) {
  std::vector<Walk> sorted;
  for (Walk &walk : walks) {
    const auto at = std::upper_bound(sorted.begin(), sorted.end(), walk->cost(),
                                     [](std::uint64_t cost, const Walk &other) { return cost < other->cost(); });
    sorted.insert(at, std::move(walk));
  }
  return sorted;
}

/// All walks go a part of the way, the faster half of them another one, and so on; the fastest goes to the end.
void StepSearch::search_together() {
  std::vector<Walk> walks = begin_all();
  if (options_.start == StepStart::kPlacement) {
    walks = best_first(std::move(walks));
    for (std::size_t i = 1; i < walks.size(); ++i)
      end(*walks[i]);
    walks.resize(1);
    if (options_.step_plans > 0) walks.front()->try_reuse();
  }
  for (std::uint64_t changes = part();; changes += part()) {
    const bool last = walks.size() == 1;
    if (last && options_.step_plans > 0) for_each(walks, [&](Walk &walk) { weave(*walk); });
    for_each(walks, [&](Walk &walk) {
      run_until(*walk, last ? options_.step_plans : std::min(changes, options_.step_plans));
    });
    walks = best_first(std::move(walks));
    const std::size_t kept = last ? 0 : (walks.size() + 1) / 2;
    for (std::size_t i = kept; i < walks.size(); ++i)
      end(*walks[i]);
    if (last) {
      best_ = std::move(walks.front());
      break;
    }
    walks.resize(kept);
  }
  together_.seconds = walked_seconds_;
}

void StepSearch::weave(StepWalk &walk) {
  // Cores that share a scratchpad gain more by what stays in it than by weaving, which takes the room for that.
  if (npu_.cores > 1) {
    const std::uint64_t changes = std::min(options_.step_plans, kWeavings);
    walk.try_strips(changes);
    walk.try_parts(changes);
  }
  weave_in_rounds(walk);
}

void StepSearch::weave_in_rounds(StepWalk &walk) {
  const std::uint64_t changes = std::min(options_.step_plans, kWeavings);
  std::uint64_t before = 0, patience = options_.start == StepStart::kPlacement ? changes / kPatience : changes;
  do {
    before = walk.cost();
    walk.try_weaving(changes, patience);
    if (!own_.machine().unit) patience = std::min(patience, changes / kLaterPatience);
    if (npu_.cores == 1) walk.try_parts(changes);
    walk.try_putting_off(changes);
  } while (walk.cost() < before - before / kRoundGain);
}

/// Goes on until the walk has tried so many changes, or has done the work that they may take.
void StepSearch::run_until(StepWalk &walk, std::uint64_t changes) {
  const std::uint64_t bursts = std::max(changes * kChangeWork, walk.woven_bursts() / kAfterWeaving);
  walk.run(changes - std::min(changes, walk.work().tried), bursts);
}

/// Takes the walk's plans if they are the fastest, and what it did.
void StepSearch::end(const StepWalk &walk) {
  together_ += walk.work();
  found_.improvements += walk.improvements();
  take(walk);
}

void StepSearch::take(const StepWalk &walk) {
  if (!found_.plans.empty() && walk.cost() >= found_.cost) return;
  found_.cost = walk.cost();
  found_.plans = walk.plans();
  found_.falls = walk.falls();
}

/// A walk from the last plans of all layers: what it did.
SearchWork StepSearch::walk_from_conventional(bool to_go_on) {
  Walk walk;
  if (to_go_on) {
    walk = begin(levels() - 1);
    if (options_.start == StepStart::kPlacement && options_.step_plans > 0) walk->try_reuse();
    run_until(*walk, part());
  } else {
    walk = make_walk();
    walk->begin(levels() - 1);
  }
  count(walk);
  end(*walk);
  const SearchWork work = walk->work();
  if (walk->cost() < best_->cost()) best_ = std::move(walk);
  return work;
}

/// The fastest walk goes on: what that did.
SearchWork StepSearch::go_on(const std::function<void(StepWalk &)> &work) {
  const SearchWork before = best_->work();
  const std::uint64_t improvements = best_->improvements();
  const double seconds = walked_seconds_;
  std::vector<Walk> walks;
  walks.push_back(std::move(best_));
  for_each(walks, [&](Walk &walk) { work(*walk); });
  best_ = std::move(walks.front());
  found_.improvements += best_->improvements() - improvements;
  take(*best_);
  SearchWork done = best_->work();
  done.tried -= before.tried;
  done.simulated -= before.simulated;
  done.bursts -= before.bursts;
  done.seconds = walked_seconds_ - seconds;
  return done;
}

/// Gives the search for conventional plans as much work as that for the step has taken. As often as that finds faster
/// ones, the step is searched from these, too, and the fastest walk tries them.
void StepSearch::keep_up(SearchWork &late) {
  const auto progress = [&] { report(2 * layers_.size() + options_.step_plans); };
  while (own_.search_conventional(found_.work.bursts, threads_, progress)) {
    const bool to_go_on = options_.start == StepStart::kReuse || late.bursts < together_.bursts / kLateShare;
    const SearchWork work = walk_from_conventional(to_go_on);
    late += work;
    found_.work += work;
    if (options_.step_plans > 0) found_.work += go_on([](StepWalk &walk) { walk.try_conventional(); });
  }
}

/// The fastest walk goes on weaving, also with plans that move less. Offered from the beginning these gain nothing:
/// what is woven first then has other plans, no better ones.
void StepSearch::weave_thriftily() {
  own_.prepare_thrifty(threads_);
  found_.work += own_.thrifty_work();
  best_->offer_thrifty(own_, thrifty_beside_);
  found_.work += go_on([this](StepWalk &walk) { weave_in_rounds(walk); });
  found_.work.tried += thrifty_beside_.work().tried;
  found_.work.simulated += thrifty_beside_.work().simulated;
}

/// The fastest walk changes what it has woven once more.
void StepSearch::change_runs() {
  const std::uint64_t bursts = found_.work.bursts / kRunsShare;
  if (options_.step_plans > 0) found_.work += go_on([=](StepWalk &walk) { walk.change_runs(bursts); });
}

void StepSearch::search_conventional() {
  found_.work = own_.work();
  found_.work += together_; // which has the bursts and the seconds of these:
  found_.work.tried += beside_.work().tried;
  found_.work.simulated += beside_.work().simulated;
  SearchWork late;
  keep_up(late);
  change_runs();
  keep_up(late);
  if (weaves_again_) {
    weave_thriftily();
    change_runs();
    keep_up(late);
  }
  found_.conventional_work = own_.conventional_work();
}

void add_phases(const OwnPlan &plan, std::vector<PhasePlan> &phases) {
  phases.insert(phases.end(), plan.phases.begin(), plan.phases.end());
}

void StepSearch::add_layers() {
  found_.layers.resize(layers_.size());
  std::map<const LayerPlans::Choice *, std::uint64_t> bytes; // layers of a shape share their plans
  own_.for_passes([&](std::size_t i, Pass pass) {
    const LayerPlans::Choice &shared = own_.of(i, pass), &whole = own_.alone(i, pass); // plans for a part are plans
    const OwnPlan &best = shared.alone().cost < whole.alone().cost ? shared.alone() : whole.alone();
    const OwnPlan &conventional =
        shared.conventional.cost < whole.conventional.cost ? shared.conventional : whole.conventional;
    LayerCosts &layer = found_.layers[i];
    layer.conventional += conventional.cost;
    layer.searched += best.cost;
    if (!layers_[i].vector) {
      add_phases(conventional, layer.conventional_phases);
      add_phases(best, layer.searched_phases);
    }
    if (pass == Pass::kBackward) layer.order = best.order;
    found_.apart_cost += best.cost;
    const auto [known, is_new] = bytes.try_emplace(&whole, 0);
    if (is_new) known->second = own_.bytes_of(i, pass, best);
    found_.apart_bytes += known->second;
  });
}

SearchedStep StepSearch::run() {
  plan_layers();
  search_together();
  search_conventional();
  add_layers();
  found_.simulated = together_.simulated;
  found_.objective = options_.objective;
  return std::move(found_);
}

} // namespace

SearchedStep search_step(const std::vector<Layer> &layers, const Machine &npu, const StepOptions &options) {
  return StepSearch(layers, npu, options).run();
}

} // namespace gradweave::compiler
