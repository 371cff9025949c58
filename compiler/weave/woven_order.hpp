// Orders of the jobs' products as programs: what a search of orders tries, and what it takes.
#pragma once

#include "compiler/lower/run_order.hpp"
#include "compiler/weave/job_plans.hpp"
#include "compiler/weave/merge.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// Where the tiles of a section may lie.
enum class Areas : std::uint8_t {
  kPlanned, ///< where its plan says
  kAnywhere,
  /// Where its plan says, and all that was there before is given up. Of whole sections only: sums of another job that
  /// are not complete would be lost.
  kAlone
};

struct SectionChoice {
  std::size_t plan = 0; ///< of its shape's
  Areas areas = Areas::kPlanned;
  std::uint32_t shift = 0; ///< macro-banks that planned areas are moved by, as far as there are any
  /// Of the plan's window, whose products are now among others: a factor.
  std::uint32_t windows = 1;

  bool operator==(const SectionChoice &o) const {
    return plan == o.plan && areas == o.areas && windows == o.windows &&
           (areas == Areas::kAnywhere || shift == o.shift);
  }
};

/// Where a job stands when a share of all has passed: the order of a rule is stretched and shortened piece by piece.
using Pace = std::vector<double>;

/// What is to be decided.
struct WovenOrder {
  weave_model::Rule rule;
  std::uint32_t balance = 0; ///< pieces of balance(), which then orders turns; 0: the rule does
  /// What a job does in a turn: products of a section that take so many cycles at least of the array or of the memory;
  /// 0: one. Infinite: the section.
  double turn = 0;
  std::vector<std::vector<SectionChoice>> sections; ///< by job
  std::vector<Pace> paces;                          ///< by job; empty: as the rule says

  bool operator==(const WovenOrder &o) const {
    const bool same_rule = rule.policy == o.rule.policy && rule.idle == o.rule.idle && rule.ties == o.rule.ties &&
                           rule.lead == o.rule.lead;
    return balance == o.balance && (balance > 0 || same_rule) && turn == o.turn && sections == o.sections &&
           paces == o.paces;
  }
};

/// Makes programs of orders, and times them. The references must outlive the object.
class OrderPlayer {
public:
  OrderPlayer(const JobSet &jobs, const JobPlans &plans) : jobs_(jobs), plans_(plans) {}

  /// The plans of all phases, with products, and the slices in which they run.
  struct Sequence {
    std::vector<PhasePlan> plans;
    std::vector<Slice> slices;
  };
  Sequence sequence(const WovenOrder &order) const;
  /// By the timing model; kTooSlow as soon as it is clear that they are `limit` or more, and if it does not fit.
  std::uint64_t cycles(const WovenOrder &order, std::uint64_t limit) const;
  /// The program of an order that fits.
  TimedPlan time(const WovenOrder &order) const;

private:
  const PricedPlan &plan_of(const WovenOrder &order, std::size_t job, std::size_t section) const {
    return plans_.of(plans_.shape_of(job, section))[order.sections[job][section].plan];
  }
  std::vector<std::size_t> turn_ends(const WovenOrder &order, const PricedPlan &plan) const;
  void add_phases(const WovenOrder &order, std::size_t job, std::size_t section, std::vector<PhasePlan> &plans) const;
  std::vector<std::vector<TileCost>> costs(const WovenOrder &order) const;

  const JobSet &jobs_;
  const JobPlans &plans_;
};

} // namespace gradweave::compiler
