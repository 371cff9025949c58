#include "compiler/search/plans/layer_plans.hpp"
#include "base/process/parallel.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Share of the usual work that goes into the first plans, before changes of them are tried. The same whatever the
/// effort, so that more effort goes further on the same way.
constexpr double kFirstEffort = 0.05;
/// Plans tried first.
constexpr std::uint64_t kFirstPlans = 12;
/// Gain of twice as many conventional plans that is not worth going on for.
constexpr double kSaturated = 0.002;
/// Times as many plans as asked for at most.
constexpr std::uint64_t kMostTimes = 8;
/// Times as slow as the fastest order that another one may be to go on with it.
constexpr double kPromising = 1.01;
/// Program::work() that a plan may take on average.
constexpr std::uint64_t kWorkOfAPlan = 6667, kLeastWork = 100'000;
/// Plans of a layer and direction that a step may use instead of the best, beside those of each level: the fastest of
/// as many tilings, and where there are fewer others of these. The more plans are tried, the more of the fastest have
/// the same tiles, which is no choice for a step.
constexpr std::size_t kFastest = 12;

/// How the cores may share a layer: parts of it, or tiles by turns. With one core it is not cut.
std::vector<Cut> cuts_of(const Layer &layer, Pass pass, const Machine &npu) {
  if (npu.cores == 1) return {Cut{}};
  std::vector<CutKind> kinds = other_cuts(pass, true);
  kinds.insert(kinds.begin(), kFirstCut);
  CompileOptions options;
  options.pass = pass;
  std::vector<Cut> cuts;
  for (const CutKind &kind : kinds) {
    options.partition = kind.partition;
    options.reduction = kind.reduction;
    options.sharing = kind.sharing;
    cuts.push_back(cut_of(layer, npu, options));
  }
  return cuts;
}

/// Whether the phases of two orders have the same tiles, one after the other.
bool same_tiling(const std::vector<PhasePlan> &one, const std::vector<PhasePlan> &other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const PhasePlan &x, const PhasePlan &y) {
    return x.kind == y.kind && x.tile == y.tile && x.loops == y.loops;
  });
}

} // namespace

SearchWork &SearchWork::operator+=(const SearchWork &other) {
  tried += other.tried;
  simulated += other.simulated;
  bursts += other.bursts;
  seconds += other.seconds;
  return *this;
}

OrderSearch::OrderSearch(const Layer &layer, Schedule order, const Cut &cut, Pass pass, const Machine &npu,
                         Objective objective, const std::function<void()> &tried)
    : layer_(layer), sample_(sample_of(layer, npu, cut.partition == Partition::kNone ? 1 : cut.parts)), order_(order),
      npu_(npu), judge_(npu, objective), tried_(tried), layout_(make_layout({layer}, pass, npu)),
      sample_layout_(make_layout({sample_}, pass, npu)) {
  count([&] {
    refinement_.emplace(compiler::search(sample_, order, pass, cut, sample_layout_, npu, kFirstEffort, tried, &layer_),
                        sample_, sample_layout_, npu_, tried, PlanChanger::kUsualSeed, objective);
  });
  if (refinement_->kept().empty()) refuse_plans(layer, refinement_->least_room(), npu);
}

void OrderSearch::count(const std::function<void()> &search) {
  const auto start = std::chrono::steady_clock::now();
  search();
  work_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  work_.tried = refinement_->effort().candidates;
  work_.simulated = refinement_->effort().simulated;
  work_.bursts = refinement_->worked() * kBurstsOfAProduct + refinement_->simulation();
}

void OrderSearch::run(std::uint64_t plans, std::uint64_t work) {
  count([&] {
    refinement_->run(plans, work, [this](std::uint64_t) {
      if (tried_) tried_();
    });
  });
}

void OrderSearch::run_on(double times) {
  run(~std::uint64_t{0}, static_cast<std::uint64_t>(times * static_cast<double>(refinement_->worked())));
}

OwnPlan OrderSearch::best() const {
  if (is_whole(sample_, layer_)) return {kept().front().plans, order_, kept().front().cost};
  TimedPlan best = fastest_for(layer_, sample_, kept(), layout_, npu_, judge_.objective());
  const std::uint64_t cost = judge_.cost_of(best.program, best.cycles);
  return {std::move(best.plans), order_, cost};
}

const OwnPlan &LayerPlans::Choice::alone() const {
  const OwnPlan *found = &best();
  for (const OwnPlan *other : {&conventional, &dw_first})
    if (other->cost < found->cost) found = other;
  return *found;
}

const LayerPlans::Choice &LayerPlans::of(const Layer &layer, Pass pass) const {
  return shapes_.at(key_of(layer, pass)).choice;
}

void LayerPlans::begin(Shape &shape, const Layer &layer, Pass pass) const {
  std::vector<Schedule> orders{Schedule::kSequential};
  if (computes_dx(layer, pass) && !conventional_only_)
    orders = {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor};
  const std::vector<Cut> cuts = cuts_of(layer, pass, npu_);
  const auto search = [&](Schedule order, const Cut &cut) {
    return std::make_unique<OrderSearch>(layer, order, cut, pass, npu_, objective_, tried_);
  };
  const auto begun = [&](Schedule order) {
    auto best = search(order, cuts.front());
    // Goes on with the cut whose first plans are the best. One that no tile fits is none.
    for (auto cut = cuts.begin() + 1; cut != cuts.end(); ++cut) {
      try {
        if (auto other = search(order, *cut); other->kept().front().cost < best->kept().front().cost)
          best = std::move(other);
      } catch (const CompileError &) {
        continue;
      }
    }
    return best;
  };
  for (const Schedule order : orders)
    shape.orders.push_back(begun(order));
  if (orders.size() > 1) shape.dw_first = begun(Schedule::kDwFirst);
}

void LayerPlans::prepare(const std::vector<Direction> &directions, unsigned threads,
                         const std::function<void()> &progress) {
  struct New {
    Shape *shape;
    Direction direction;
  };
  std::vector<New> all;
  for (const Direction &d : directions)
    if (const auto [at, is_new] = shapes_.try_emplace(key_of(*d.layer, d.pass)); is_new)
      all.push_back({&at->second, d});
  std::mutex mutex;
  for_each_in_parallel(all.size(), threads, [&](std::size_t i) {
    begin(*all[i].shape, *all[i].direction.layer, all[i].direction.pass);
    search(*all[i].shape);
    const std::lock_guard<std::mutex> lock(mutex);
    if (progress) progress();
  });
}

void LayerPlans::search(Shape &shape) const {
  Choice &choice = shape.choice;
  std::uint64_t before = kNoPlan;
  for (std::uint64_t tried = 0, wanted = std::min(kFirstPlans, plans_);; wanted = 2 * tried) {
    OwnPlan best;
    for (const auto &order : shape.orders) {
      const bool conventional = order == shape.orders.front();
      const bool promising = static_cast<double>(order->kept().front().cost) <
                             kPromising * static_cast<double>(shape.orders.front()->kept().front().cost);
      if (conventional || promising || wanted <= 2 * plans_)
        order->run(wanted - tried, std::max(kLeastWork, (wanted - tried) * kWorkOfAPlan));
      OwnPlan own = order->best();
      if (conventional || own.cost < best.cost) best = own;
      if (conventional) choice.conventional = std::move(own);
    }
    choice.levels.push_back(std::move(best));
    tried = wanted;
    const double gained = 1 - static_cast<double>(choice.conventional.cost) / static_cast<double>(before);
    before = choice.conventional.cost;
    if (tried >= plans_ && (gained < kSaturated || tried >= kMostTimes * plans_)) break;
  }
  if (shape.dw_first) {
    shape.dw_first->run(plans_, std::max(kLeastWork, plans_ * kWorkOfAPlan));
    choice.dw_first = shape.dw_first->best();
  }
  add_alternatives(shape);
}

void LayerPlans::add_alternatives(Shape &shape) {
  std::vector<const Refinement::Kept *> kept; // best first; of equal ones, those of the first orders
  for (const auto &order : shape.orders)
    for (const Refinement::Kept &k : order->kept()) {
      const auto at = std::upper_bound(kept.begin(), kept.end(), k.cost,
                                       [](std::uint64_t c, const Refinement::Kept *other) { return c < other->cost; });
      kept.insert(at, &k);
    }
  std::vector<std::vector<PhasePlan>> &alternatives = shape.choice.alternatives;
  std::vector<const Refinement::Kept *> others;
  for (const Refinement::Kept *k : kept) {
    const bool is_new = std::none_of(alternatives.begin(), alternatives.end(),
                                     [&](const auto &other) { return same_tiling(k->plans, other); });
    if (!is_new)
      others.push_back(k);
    else if (alternatives.size() < kFastest)
      alternatives.push_back(k->plans);
  }
  for (const Refinement::Kept *k : others)
    if (alternatives.size() < kFastest) alternatives.push_back(k->plans);
  for (const OwnPlan &level : shape.choice.levels)
    alternatives.push_back(level.phases);
}

bool LayerPlans::search_conventional(std::uint64_t bursts, unsigned threads, const std::function<void()> &progress) {
  std::vector<OrderSearch *> searches;
  for (auto &[key, shape] : shapes_)
    searches.push_back(shape.orders.front().get());
  std::mutex mutex;
  std::uint64_t before = 0, done = conventional_work().bursts;
  // Plans that are tried late are seldom simulated: the work that is left takes several rounds.
  while (done < bursts && done > before) {
    const double times = static_cast<double>(bursts - done) / static_cast<double>(done);
    for_each_in_parallel(searches.size(), threads, [&](std::size_t i) {
      searches[i]->run_on(times);
      const std::lock_guard<std::mutex> lock(mutex);
      if (progress) progress();
    });
    before = std::exchange(done, conventional_work().bursts);
  }
  bool faster = false;
  for (auto &[key, shape] : shapes_)
    faster |= take_conventional(shape);
  return faster;
}

/// Takes the conventional plan found last if it is faster than the one before; whether it is the fastest of all orders.
bool LayerPlans::take_conventional(Shape &shape) {
  Choice &choice = shape.choice;
  if (OwnPlan found = shape.orders.front()->best(); found.cost < choice.conventional.cost)
    choice.conventional = std::move(found);
  if (choice.conventional.cost >= choice.best().cost) return false;
  choice.levels.push_back(choice.conventional);
  return true;
}

SearchWork LayerPlans::conventional_work() const {
  SearchWork work;
  for (const auto &[key, shape] : shapes_)
    work += shape.orders.front()->work();
  return work;
}

SearchWork LayerPlans::other_work() const {
  SearchWork work;
  for (const auto &[key, shape] : shapes_) {
    for (std::size_t i = 1; i < shape.orders.size(); ++i)
      work += shape.orders[i]->work();
    if (shape.dw_first) work += shape.dw_first->work();
  }
  return work;
}

} // namespace gradweave::compiler
