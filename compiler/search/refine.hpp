// The last part of the search: changes of good plans, judged by the timing model.
#pragma once

#include "compiler/cost/cost.hpp"
#include "compiler/ir/compiled.hpp"
#include "compiler/request/error.hpp"
#include "compiler/search/judge.hpp"
#include "compiler/search/plan_change.hpp"
#include "compiler/search/search.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>
#include <map>
#include <set>

namespace gradweave::compiler {

/// Of no plan.
inline constexpr Room kNoRoom{~std::uint64_t{0}, 0};

/// Gets the number of changes tried, after each. May throw, which ends the search.
using RefineProgress = std::function<void(std::uint64_t)>;

/// Keeps a set of the best plans, and tries changes of their tile sizes, loop orders, scratchpad splits, load windows
/// and placement weights. Deterministic: the same calls find the same plans, from the same seed.
class Refinement {
public:
  struct Kept {
    std::vector<PhasePlan> plans;
    std::uint64_t cost = 0, cycles = 0;
  };

  /// Simulates the plans to begin with (not empty), and calls `tried` after each. The references must outlive the
  /// object. Plans whose partial sums or commands exceed the device memory are left out; if all do, none is kept, and
  /// run() may not be called.
  Refinement(const std::vector<std::vector<PhasePlan>> &plans, const Layer &layer, const Layout &layout,
             const Machine &npu, const std::function<void()> &tried = {}, std::uint64_t seed = PlanChanger::kUsualSeed,
             Objective objective = Objective::kCycles);

  /// Tries `candidates` changes; fewer if everything near the plans kept is known, or once the plans tried in this call
  /// have done `work` (Program::work()) in all.
  void run(std::uint64_t candidates, std::uint64_t work = ~std::uint64_t{0}, const RefineProgress &progress = {});

  /// The plans of least cost so far without their products, best first.
  const std::vector<Kept> &kept() const { return kept_; }
  /// Of the plan that takes the least device memory; kNoRoom if none fits the scratchpad.
  const Room &least_room() const { return least_room_; }
  /// Plans tried since construction; cycles_before and seconds are left 0.
  const Tuning &effort() const { return effort_; }
  /// Program::work() of the plans tried since construction.
  std::uint64_t worked() const { return worked_; }
  /// simulation_work() of the plans that the timing model judged since construction.
  std::uint64_t simulation() const { return simulation_; }

private:
  /// Everything that distinguishes plans, in plain numbers.
  using Fingerprint = std::vector<double>;
  static Fingerprint fingerprint(const std::vector<PhasePlan> &plans);

  void evaluate(std::vector<PhasePlan> plans);
  /// The judge's verdict, which many plans with the same program share.
  Judged simulate(const Program &program, std::uint64_t limit);

  const Layer &layer_;
  std::vector<Layer> layers_; ///< the one
  const Layout &layout_;
  const Machine &npu_;
  Judge judge_;
  PlanChanger changer_;
  std::vector<Kept> kept_; ///< best first
  std::set<Fingerprint> seen_;
  struct Simulated {
    std::uint64_t limit;
    Judged judged;
  };
  std::map<ProgramKey, Simulated> programs_;
  Tuning effort_;
  Room least_room_ = kNoRoom;
  std::uint64_t worked_ = 0, simulation_ = 0;
};

/// Throws CompileError: of the plans that were tried none fits the scratchpad, or the device memory, of which they take
/// `least`.
void refuse_plans(const Layer &layer, const Room &least, const Machine &npu);

/// Program::work() that so many changes of a layer's plans are given in all: layers of very many small tiles get fewer.
std::uint64_t work_of(std::uint64_t plans);

/// The layer that a search looks at in place of a large one, where that is less than half of it: a few of its groups,
/// at least as many as there are parts, for all do the same; and of its rows an even part. X, dY and Y of the sample,
/// each by itself, fill the scratchpad twice: what stays there from one use to the next, sums included, then stays in
/// the sample as it does in the layer.
Layer sample_of(const Layer &layer, const NpuConfig &npu, std::uint32_t parts = 1);

/// Whether the sample is the layer itself.
inline bool is_whole(const Layer &sample, const Layer &layer) {
  return sample.groups == layer.groups && sample.m == layer.m;
}

/// That of least cost for all of the layer among the best plans kept for it or, a few of them, for a sample of it: the
/// order of plans on a sample need not be theirs on the layer. Throws CompileError if all exceed the device memory.
TimedPlan fastest_for(const Layer &layer, const Layer &sample, const std::vector<Refinement::Kept> &kept,
                      const Layout &layout, const Machine &npu, Objective objective = Objective::kCycles);

} // namespace gradweave::compiler
