// The last part of the search: changes of good plans, judged by the timing model.
#pragma once

#include "compiler/search.hpp"

#include <functional>
#include <random>
#include <set>

namespace gradweave::compiler {

/// Gets the number of changes tried, now and then.
using RefineProgress = std::function<void(std::uint64_t)>;

/// Keeps a set of the best plans, and tries changes of their tile sizes, loop orders, scratchpad splits, load windows
/// and placement weights. Deterministic: the same calls find the same plans.
class Refinement {
public:
  /// Simulates the plans to begin with (not empty). The references must outlive the object.
  Refinement(const std::vector<std::vector<PhasePlan>> &plans, const Layer &layer, const Layout &layout,
             const NpuConfig &npu);

  /// Tries `candidates` changes; fewer if everything near the plans kept is known, or once the plans tried have
  /// `products` tile products in all.
  void run(std::uint64_t candidates, std::uint64_t products = ~std::uint64_t{0}, const RefineProgress &progress = {});

  /// The fastest plan so far.
  const TimedPlan &best() const { return best_; }
  /// Plans tried since construction; cycles_before and seconds are left 0.
  const Tuning &effort() const { return effort_; }

private:
  struct Kept {
    std::vector<PhasePlan> plans;
    std::uint64_t cycles = 0;
  };
  /// Everything that distinguishes plans, in plain numbers.
  using Fingerprint = std::vector<double>;
  static Fingerprint fingerprint(const std::vector<PhasePlan> &plans);

  /// A number from 0 to `bound` - 1; the standard's distributions differ from library to library.
  std::uint32_t pick(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::uint32_t change_side(std::uint32_t side, std::uint32_t extent, std::uint32_t unit);
  void change_tile(std::vector<PhasePlan> &plans, PhasePlan &plan);
  void change_split(SpmSplit &split);
  void change(std::vector<PhasePlan> &plans);
  void evaluate(std::vector<PhasePlan> plans);

  const Layer &layer_;
  const Layout &layout_;
  const NpuConfig &npu_;
  std::mt19937_64 random_{1};
  TimedPlan best_;
  std::vector<Kept> kept_; ///< best first
  std::set<Fingerprint> seen_;
  Tuning effort_;
  std::uint64_t placed_ = 0; ///< tile products of the plans tried
};

} // namespace gradweave::compiler
