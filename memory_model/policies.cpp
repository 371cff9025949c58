#include "memory_model/policies.hpp"

#include "memory_model/iteration/fuse.hpp"
#include "memory_model/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::array<std::pair<Policy, std::string_view>, 4> kPolicies{
    {{Policy::kThesis, "thesis"}, {Policy::kPack, "pack"}, {Policy::kRows, "rows"}, {Policy::kFused, "fused"}}};
/// Of a capacity, what a plan may fill, in eighths; what it leaves is for loading ahead.
constexpr std::array<std::uint64_t, 3> kFillings{8, 7, 6};
/// A plan of a capacity of the sweep stands for one of so little more: a 32nd.
constexpr std::uint64_t kLittle = 32;

std::uint64_t filled(std::uint64_t capacity, std::uint64_t eighths) {
  return eighths == 8 ? capacity : capacity / 8 * eighths;
}

bool is_better(const Estimate &a, const Estimate &b) {
  return std::make_pair(a.seconds, a.traffic()) < std::make_pair(b.seconds, b.traffic());
}

/// The fastest of several plans for each capacity, smallest first.
class Rows {
public:
  Rows(const Iteration &iteration, const Sweep &sweep)
      : iteration_(iteration), sweep_(sweep), uses_(iteration), planner_(iteration, uses_) {
    const std::uint64_t least = uses_.largest_window();
    std::set<std::uint64_t> planned(sweep.capacities.begin(), sweep.capacities.end());
    for (const std::uint64_t capacity : sweep.capacities)
      for (const std::uint64_t eighths : kFillings) {
        const std::uint64_t most = filled(capacity, eighths);
        const auto above = planned.upper_bound(most);
        const bool near = above != planned.begin() && *std::prev(above) >= most - most / kLittle;
        if (most >= least && !near) planned.insert(most);
      }
    planned_.assign(planned.begin(), planned.end());
  }

  std::vector<Estimate> run() {
    std::vector<Estimate> estimates;
    for (const std::uint64_t capacity : sweep_.capacities) {
      machine_ = {capacity, sweep_.bandwidth, sweep_.throughput};
      best_ = {};
      best_.seconds = std::numeric_limits<double>::infinity();
      most_traffic_ = std::numeric_limits<std::uint64_t>::max();
      if (!estimates.empty()) {
        best_ = estimates.back();
        most_traffic_ = best_.traffic();
      }
      if (before_ != nullptr) try_plan(*before_); // there is more room to load ahead
      for (const std::uint64_t eighths : kFillings)
        if (const auto plan = plan_of(filled(capacity, eighths)); plan != nullptr) try_plan(*plan);
      try_plan(planner_.pack(capacity));
      try_thesis();
      if (found_) before_ = std::move(found_);
      estimates.push_back(best_);
    }
    return estimates;
  }

private:
  /// No plan is faster than the bus.
  bool is_too_slow(const Moved &bytes) const {
    return static_cast<double>(bytes.in + bytes.out) / machine_.bandwidth > best_.seconds;
  }

  void try_plan(const Plan &plan) {
    const Moved bytes = moved(iteration_, uses_, plan);
    if (bytes.in + bytes.out > most_traffic_ || is_too_slow(bytes)) return;
    Estimate next = estimate_plan(iteration_, uses_, planner_.gaps(), plan, machine_);
    if (!is_better(next, best_)) return;
    best_ = std::move(next);
    if (&plan != before_.get()) found_ = std::make_unique<Plan>(plan);
  }

  void try_thesis() {
    const std::vector<bool> stays = belady(iteration_, uses_, machine_.capacity);
    if (is_too_slow(moved(iteration_, uses_, whole(iteration_, uses_, stays)))) return;
    Estimate next = estimate_thesis(iteration_, uses_, stays, machine_, sweep_.reading);
    if (next.seconds < best_.seconds) best_ = std::move(next);
  }

  /// A plan that fills at most so much; null if it is below what can be planned.
  const Plan *plan_of(std::uint64_t most) {
    while (at_ < planned_.size() && planned_[at_] <= machine_.capacity) {
      plans_[planned_[at_]] = planner_.rows(planned_[at_]);
      ++at_;
    }
    plans_.erase(plans_.begin(), plans_.lower_bound(machine_.capacity / 2));
    const auto above = plans_.upper_bound(most);
    return above == plans_.begin() ? nullptr : &std::prev(above)->second;
  }

  const Iteration &iteration_;
  const Sweep &sweep_;
  Uses uses_;
  Planner planner_;
  std::vector<std::uint64_t> planned_;
  std::size_t at_ = 0; ///< the next one that there is no plan for
  std::map<std::uint64_t, Plan> plans_;
  Machine machine_;
  Estimate best_;                              ///< for the capacity at hand
  std::unique_ptr<const Plan> before_, found_; ///< the last plan that was best before this capacity, and at it
  std::uint64_t most_traffic_ = 0;
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
  if (sweep.capacities.empty()) return {};
  check_machine(iteration, {sweep.capacities.front(), sweep.bandwidth, sweep.throughput});
  if (policy == Policy::kRows || policy == Policy::kFused) return Rows(iteration, sweep).run();
  const Uses uses(iteration);
  const Planner planner(iteration, uses);
  std::vector<Estimate> estimates;
  for (const std::uint64_t capacity : sweep.capacities) {
    const Machine machine{capacity, sweep.bandwidth, sweep.throughput};
    estimates.push_back(
        policy == Policy::kThesis
            ? estimate_thesis(iteration, uses, belady(iteration, uses, capacity), machine, sweep.reading)
            : estimate_plan(iteration, uses, planner.gaps(), planner.pack(capacity), machine));
  }
  return estimates;
}

Estimate estimate(Policy policy, const Iteration &iteration, const Machine &machine, const ThesisReading &reading) {
  return estimate(policy, iteration, {{machine.capacity}, machine.bandwidth, machine.throughput, reading}).front();
}

} // namespace gradweave::memory_model
