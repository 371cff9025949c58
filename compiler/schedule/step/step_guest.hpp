// A weight gradient beside a later layer of the array.
#pragma once

#include "compiler/schedule/step/step_walk.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Seeds that changes in some of the macro-banks are drawn from.
inline constexpr std::size_t kSeeds = 1U << 30U;

inline bool is_dw(const PhasePlan &plan) { return plan.kind == PhaseKind::kDw; }

/// Whether dW has a phase of its own.
inline bool splits(const std::vector<PhasePlan> &plans) {
  return plans.size() > 1 && std::any_of(plans.begin(), plans.end(), is_dw);
}

/// Of plans that split.
inline std::vector<PhasePlan>::iterator gradient_in(std::vector<PhasePlan> &plans) {
  return std::find_if(plans.begin(), plans.end(), is_dw);
}

/// A gradient and the section that it is tried beside.
class StepWalk::Guest {
public:
  Guest(StepWalk &walk, std::size_t at, std::size_t host_at)
      : walk_(walk), section_(walk.sections_[at]), host_(walk.sections_[host_at]), at_(at), host_at_(host_at) {
    std::tie(first_, end_) = walk.around(at);
    joint_ = walk.around(host_at).first < end_;
  }

  /// Looks for plans with which the gradient runs with the host faster than before it, in macro-banks of its own.
  /// Whether there are any; else both sections are as they were.
  bool put_off(std::uint64_t changes);
  /// Of a gradient that runs with the host: looks for plans of both with which they are faster. Whether there are any.
  bool go_on(std::uint64_t changes);

private:
  /// How the two share the scratchpad, and what they may run like.
  struct Banks {
    std::uint32_t guest = 0, host = 0, host_rows = 0;
    PlansBeside::Plans guests, hosts;
    std::vector<std::pair<std::size_t, std::size_t>> pairs; ///< of both kinds, that are tried first
  };

  std::uint64_t cost_of_both();
  void search_beside(const std::vector<std::uint32_t> &guests);
  std::uint64_t of_both() const { return best_ == kNoPlan ? kNoPlan : best_ + rest_; }
  Banks give_banks(std::uint32_t guest);
  void leave(const std::vector<PhasePlan> &plans);
  void run_as(std::vector<PhasePlan> host, const std::vector<PhasePlan> &guest, const Banks &banks);
  Trials trials() const;
  void keep_gains(const Trials &trials);
  void change(std::uint64_t changes, std::uint64_t apart, const Banks &banks);

  StepWalk &walk_;
  Section &section_, &host_;
  std::size_t at_, host_at_;
  std::size_t first_ = 0, end_ = 0; ///< around the section
  bool joint_ = false;              ///< the host is next to it
  std::vector<PhasePlan> left_;     ///< the section's plans, whose gradient is exchanged
  std::uint64_t rest_ = kNoPlan;    ///< what is around the section takes without it, unless they are joint
  std::uint64_t best_ = kNoPlan;    ///< of both without that
};

} // namespace gradweave::compiler
