// Plans of what stays in the cache.
#pragma once

#include "memory_model/flow.hpp"
#include "memory_model/plan.hpp"

#include <memory>

namespace gradweave::memory_model {

/// Plans for one capacity after another.
///
/// With tensors by rows, which bytes stay is a flow of the largest profit along the iteration: a byte that stays saves
/// a load, and the share of a write that its gap has in it. Exact where tensors are read only; where they are written,
/// what is saved is at most the flow's profit, which is why it gives a bound. Networks of more steps than kMostSteps
/// get a plan by Belady's rule on bytes, first for what saves a write too.
class Planner {
public:
  static constexpr std::size_t kMostSteps = 3000;

  Planner(const Iteration &iteration, const Uses &uses);

  const std::vector<Gap> &gaps() const { return gaps_; }
  /// Parts of tensors. Capacities best ascend: the flow goes on from one to the next.
  Plan rows(std::uint64_t capacity);
  /// Whole tensors, those that are used again soonest first, where there is room for them all the way.
  Plan pack(std::uint64_t capacity) const;
  /// No plan of whole or parts of tensors that leaves each step its working window moves fewer bytes on that capacity.
  std::uint64_t least_traffic(std::uint64_t capacity);

private:
  void flow_to(std::uint64_t capacity);
  Plan by_belady(std::uint64_t capacity) const;
  std::vector<std::uint64_t> room(std::uint64_t capacity) const;

  const Iteration &iteration_;
  const Uses &uses_;
  std::vector<Gap> gaps_;
  std::vector<std::uint32_t> shortest_first_; ///< gaps
  std::vector<std::uint32_t> twice_, once_;   ///< gaps that save a load and a write, and others, by where they begin
  std::unique_ptr<IntervalFlow> flow_;
  std::uint64_t flowed_ = 0;
};

} // namespace gradweave::memory_model
