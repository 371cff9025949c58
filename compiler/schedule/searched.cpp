#include "compiler/schedule/searched.hpp"
#include "compiler/cost/image_choice.hpp"

#include "compiler/lower/order.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/search/layer_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace gradweave::compiler {
namespace {

/// What the order of a backward pass is chosen for: a part of the layer.
Layer backward_part(const Layer &layer, const NpuConfig &npu, const CompileOptions &options) {
  return part_of(layer, phase_parts(cut_of(layer, npu, options), false, layer, npu), npu);
}

/// The options with each of the orders, without progress.
std::vector<CompileOptions> with_each(const CompileOptions &options, const std::vector<Schedule> &orders) {
  std::vector<CompileOptions> tried;
  for (const Schedule order : orders) {
    tried.push_back(options);
    tried.back().schedule = order;
    tried.back().progress = nullptr;
  }
  return tried;
}

bool cut_otherwise(const CompileOptions &x, const CompileOptions &y) {
  return x.partition != y.partition || x.reduction != y.reduction || x.sharing != y.sharing;
}

/// The ways of other orders than that of `best`, cut like it.
std::vector<CompileOptions> with_cut_of(const CompileOptions &best, const std::vector<CompileOptions> &ways) {
  std::vector<CompileOptions> alike;
  for (const CompileOptions &way : ways) {
    if (way.schedule == best.schedule) continue;
    alike.push_back(best);
    alike.back().schedule = way.schedule;
  }
  return alike;
}

/// The choice of `rearrange`, then, if the backward pass has any choice, the other orders that share dY.
std::vector<Schedule> orders_that_share(const SchedulingProblem &problem, const CompileOptions &options) {
  const Layer &layer = problem.layers.front();
  std::vector<Schedule> orders{resolve(Schedule::kRearrange, backward_part(layer, problem.npu, options))};
  if (!computes_dx(layer, options.pass)) return orders;
  for (const Schedule s : {Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor})
    if (s != orders.front()) orders.push_back(s);
  return orders;
}

/// The best of what has been tried.
class Choice {
public:
  /// `all`: ways that will be tried at most.
  Choice(const SchedulingProblem &problem, std::size_t all) : problem_(problem), all_(all) {}

  /// Tries ways one after the other. A way in which nothing fits is none, if there is another.
  void consider(const std::vector<CompileOptions> &ways) {
    for (const CompileOptions &way : ways) {
      try {
        consider(way);
      } catch (const CompileError &) {
        if (!refused_) refused_ = std::current_exception();
      }
      ++tried_;
    }
  }
  /// Throws what the first way threw if no way has plans.
  void check() const {
    if (best_ == nullptr) std::rethrow_exception(refused_);
  }
  /// Tries a way that does not count as tuning.
  Tuning take(const CompileOptions &options, const CompileOptions &way) {
    const auto found = search_layer(problem_.layers.front(), problem_.npu, options, problem_.known);
    if (best_ == nullptr || found->cost < best_->cost) {
      best_ = found;
      chosen_ = way;
    }
    return found->tuning;
  }
  /// The best way; nothing if no way has plans.
  const std::optional<CompileOptions> &chosen() const { return chosen_; }

  Scheduled result() const { return {best_->plans, best_->cycles, std::nullopt, chosen_->schedule, tuning_, {}}; }

private:
  void consider(const CompileOptions &way) {
    CompileOptions options = way;
    if (problem_.options.progress)
      options.progress = [&](std::uint64_t done, std::uint64_t of) {
        problem_.options.progress(tried_ * of + done, all_ * of);
      };
    const bool first = best_ == nullptr;
    const Tuning t = take(options, way);
    const std::uint64_t before = first ? t.cycles_before : std::min(tuning_.cycles_before, t.cycles_before);
    tuning_ += t;
    tuning_.cycles_before = before; // of one way, not of all together
  }

  const SchedulingProblem &problem_;
  std::size_t all_, tried_ = 0;
  std::exception_ptr refused_; ///< by the first way that has no plans
  Memo<FoundPlans>::Pointer best_;
  std::optional<CompileOptions> chosen_;
  Tuning tuning_;
};

} // namespace

std::vector<CompileOptions> SearchedOrder::orders(const SchedulingProblem &problem) const {
  const CompileOptions &options = problem.options;
  if (name_ == Schedule::kIdeal) return with_each(options, orders_that_share(problem, options));
  return with_each(options, {resolve(name_, backward_part(problem.layers.front(), problem.npu, options))});
}

std::vector<CompileOptions> SearchedOrder::other_cuts_with(const SchedulingProblem & /*problem*/,
                                                           const CompileOptions & /*best*/) const {
  return {};
}

Scheduled SearchedOrder::schedule_layer(const SchedulingProblem &problem) const {
  const std::vector<CompileOptions> first = orders(problem);
  // How many other cuts there are does not depend on which order is the best.
  const std::size_t cuts = other_cuts_with(problem, first.front()).size();
  Choice choice(problem, first.size() + cuts + (cuts == 0 ? 0 : first.size() - 1));
  choice.consider(first);
  choice.consider(other_cuts_with(problem, choice.chosen().value_or(first.front())));
  // Which order is the best depends on the cut.
  if (choice.chosen() && cut_otherwise(*choice.chosen(), first.front()))
    choice.consider(with_cut_of(*choice.chosen(), first));
  choice.check();
  if (problem.options.tune != 0) {
    CompileOptions usual = problem.options;
    usual.schedule = resolve(Schedule::kRearrange, backward_part(problem.layers.front(), problem.npu, usual));
    usual.tune = 0;
    usual.progress = nullptr;
    choice.take(usual, usual);
  }
  return choice.result();
}

FullSearch::FullSearch()
    : SearchedOrder(Schedule::kSearch, "the fastest of all orders and partitions; of several layers, of the step") {}

std::vector<CompileOptions> FullSearch::orders(const SchedulingProblem &problem) const {
  CompileOptions base = problem.options;
  if (problem.npu.cores > 1 && base.partition == Partition::kNone) {
    base.partition = kFirstCut.partition; // or all cores but one would be idle
    base.reduction = kFirstCut.reduction;
  }
  std::vector<Schedule> all = orders_that_share(problem, base);
  if (computes_dx(problem.layers.front(), base.pass))
    all.insert(all.end(), {Schedule::kSequential, Schedule::kDwFirst});
  return with_each(base, all);
}

/// Partitions with the best order, unless one was asked for: parts, and with several cores tiles by turns.
std::vector<CompileOptions> FullSearch::other_cuts_with(const SchedulingProblem &problem,
                                                        const CompileOptions &best) const {
  std::vector<CompileOptions> tried;
  if (problem.options.partition != Partition::kNone) return tried;
  for (const CutKind &kind : other_cuts(problem.options.pass, problem.npu.cores > 1)) {
    tried.push_back(best);
    tried.back().partition = kind.partition;
    tried.back().reduction = kind.reduction;
    if (kind.sharing == Sharing::kTurns) tried.back().sharing = kind.sharing; // else as asked for
  }
  return tried;
}

Scheduled FullSearch::schedule(const SchedulingProblem &problem) const {
  if (problem.layers.size() == 1 || are_split(problem.layers)) return SearchedOrder::schedule(problem);
  StepOptions options;
  options.pass = problem.options.pass;
  options.layer_plans = options.step_plans = problem.options.plans;
  options.progress = problem.options.progress;
  options.objective = problem.options.objective;
  SearchedStep found = search_step(problem.layers, problem.npu, options);
  for (PhasePlan &plan : found.plans)
    plan.products.clear(); // made again from the plan
  Tuning tuning;
  const std::uint64_t cycles = found.objective == Objective::kCycles ? found.cost : 0; // else it is timed again
  return {std::move(found.plans), cycles, std::nullopt, name(), tuning, {}};
}

const Scheduler &sequential_scheduler() {
  static const SearchedOrder scheduler(Schedule::kSequential, "all of dX, then all of dW: what frameworks do");
  return scheduler;
}

const Scheduler &interleave_scheduler() {
  static const SearchedOrder scheduler(Schedule::kInterleave, "products of dX and dW by turns");
  return scheduler;
}

const Scheduler &dx_major_scheduler() {
  static const SearchedOrder scheduler(Schedule::kDxMajor, "by turns, both along the rows of dY");
  return scheduler;
}

const Scheduler &dw_major_scheduler() {
  static const SearchedOrder scheduler(Schedule::kDwMajor, "by turns, both along the columns of dY");
  return scheduler;
}

const Scheduler &dw_first_scheduler() {
  static const SearchedOrder scheduler(Schedule::kDwFirst,
                                       "all of dW, then all of dX: as a rule the smaller result leaves last");
  return scheduler;
}

const Scheduler &rearrange_scheduler() {
  static const SearchedOrder scheduler(Schedule::kRearrange, "one of these three by the layer's shape, as Algorithm 1");
  return scheduler;
}

const Scheduler &ideal_scheduler() {
  static const SearchedOrder scheduler(Schedule::kIdeal, "the fastest of these three");
  return scheduler;
}

const Scheduler &search_scheduler() {
  static const FullSearch scheduler;
  return scheduler;
}

} // namespace gradweave::compiler
