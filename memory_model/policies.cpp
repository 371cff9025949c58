#include "memory_model/policies.hpp"

#include "memory_model/iteration/fuse.hpp"
#include "memory_model/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::array<std::pair<Policy, std::string_view>, 4> kPolicies{
    {{Policy::kThesis, "thesis"}, {Policy::kPack, "pack"}, {Policy::kRows, "rows"}, {Policy::kFused, "fused"}}};
/// Of a capacity, what a plan may fill, in eighths; what it leaves is for loading ahead.
constexpr std::array<std::uint64_t, 3> kFillings{6, 7, 8};

/// The fastest of several plans for each capacity, smallest first.
class Rows {
public:
  Rows(const Iteration &iteration, const Sweep &sweep)
      : iteration_(iteration), sweep_(sweep), uses_(iteration), planner_(iteration, uses_) {
    std::set<std::uint64_t> fillings;
    const std::uint64_t least = least_capacity(iteration);
    for (const std::uint64_t capacity : sweep.capacities)
      for (const std::uint64_t eighths : kFillings)
        if (const std::uint64_t filled = capacity / 8 * eighths; eighths == 8 || filled >= least)
          fillings.insert(eighths == 8 ? capacity : filled);
    fillings_.assign(fillings.begin(), fillings.end());
  }

  std::vector<Estimate> run() {
    std::vector<Estimate> estimates;
    Plan best_plan;
    for (const std::uint64_t capacity : sweep_.capacities) {
      const Machine machine{capacity, sweep_.bandwidth, sweep_.throughput};
      check_machine(iteration_, machine);
      Estimate best = estimate_thesis(iteration_, uses_, machine, sweep_.reading);
      const auto try_plan = [&](const Plan &plan, bool known) {
        Estimate next = estimate_plan(iteration_, uses_, planner_.gaps(), plan, machine);
        if (next.seconds >= best.seconds) return;
        best = std::move(next);
        if (!known) best_plan = plan;
      };
      if (!best_plan.kept.empty()) try_plan(best_plan, true);
      for (const std::uint64_t eighths : kFillings)
        if (const auto plan = plan_of(eighths == 8 ? capacity : capacity / 8 * eighths); plan != nullptr)
          try_plan(*plan, false);
      try_plan(pack(iteration_, uses_, planner_.gaps(), capacity), false);
      if (!estimates.empty() && estimates.back().seconds < best.seconds) best = estimates.back();
      estimates.push_back(std::move(best));
    }
    return estimates;
  }

private:
  /// Null if it is below what can be planned.
  const Plan *plan_of(std::uint64_t filled) {
    while (at_ < fillings_.size() && fillings_[at_] <= filled) {
      plans_[fillings_[at_]] = planner_.plan(fillings_[at_]);
      ++at_;
    }
    while (plans_.size() > 2 && plans_.begin()->first < filled / 4 * 3)
      plans_.erase(plans_.begin());
    const auto known = plans_.find(filled);
    return known == plans_.end() ? nullptr : &known->second;
  }

  const Iteration &iteration_;
  const Sweep &sweep_;
  Uses uses_;
  RowPlanner planner_;
  std::vector<std::uint64_t> fillings_;
  std::size_t at_ = 0; ///< the next one that there is no plan for
  std::map<std::uint64_t, Plan> plans_;
};

} // namespace

std::string_view to_string(Policy policy) { return kPolicies[static_cast<std::size_t>(policy)].second; }

std::string policy_names() {
  std::string names;
  for (const auto &[policy, name] : kPolicies)
    names += fmt::format("{}{}", names.empty() ? "" : policy == kPolicies.back().first ? " or " : ", ", name);
  return names;
}

Policy parse_policy(std::string_view name) {
  for (const auto &[policy, known] : kPolicies)
    if (known == name) return policy;
  throw std::invalid_argument(fmt::format("no policy '{}'; there are {}", name, policy_names()));
}

Iteration iteration_for(Policy policy, const Iteration &iteration) {
  return policy == Policy::kFused ? fuse_point_wise(iteration) : iteration;
}

std::vector<Estimate> estimate(Policy policy, const Iteration &iteration, const Sweep &sweep) {
  if (!std::is_sorted(sweep.capacities.begin(), sweep.capacities.end()))
    throw std::invalid_argument("capacities have to ascend");
  if (policy == Policy::kRows || policy == Policy::kFused) return Rows(iteration, sweep).run();
  const Uses uses(iteration);
  const std::vector<Gap> gaps = find_gaps(iteration, uses);
  std::vector<Estimate> estimates;
  for (const std::uint64_t capacity : sweep.capacities) {
    const Machine machine{capacity, sweep.bandwidth, sweep.throughput};
    check_machine(iteration, machine);
    estimates.push_back(policy == Policy::kThesis
                            ? estimate_thesis(iteration, uses, machine, sweep.reading)
                            : estimate_plan(iteration, uses, gaps, pack(iteration, uses, gaps, capacity), machine));
  }
  return estimates;
}

Estimate estimate(Policy policy, const Iteration &iteration, const Machine &machine, const ThesisReading &reading) {
  return estimate(policy, iteration, {{machine.capacity}, machine.bandwidth, machine.throughput, reading}).front();
}

} // namespace gradweave::memory_model
