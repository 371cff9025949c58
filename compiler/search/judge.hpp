// What a search minimises: cycles, energy, or their product.
#pragma once

#include "compiler/cost/cost.hpp"
#include "compiler/request/names.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <string_view>

namespace gradweave::compiler {

/// A program's cost, and the cycles of its run; both kTooSlow if that is all there is to know.
struct Judged {
  std::uint64_t cost = kTooSlow, cycles = kTooSlow;
};

/// Prices programs. Costs are whole numbers: cycles, energy in pJ, or energy times cycles in nJ cycles, rounded to the
/// nearest. The machine must outlive the object.
class Judge {
public:
  explicit Judge(const Machine &npu, Objective objective = Objective::kCycles) : npu_(npu), objective_(objective) {}

  Objective objective() const { return objective_; }

  /// By the timing model, and by the table [energy] of the machine; or kTooSlow as soon as it is clear that the cost is
  /// `limit` or more.
  Judged judge(const Program &program, std::uint64_t limit = kTooSlow) const;
  /// The cost of what accesses so much in so many cycles.
  std::uint64_t cost_of(const AccessCounts &accesses, std::uint64_t cycles) const;
  /// That of a program whose cycles are known.
  std::uint64_t cost_of(const Program &program, std::uint64_t cycles) const;

  /// No program of so many cycles or more costs less.
  std::uint64_t least_of_cycles(std::uint64_t cycles) const;
  /// This program does not cost less.
  std::uint64_t bound(const Program &program) const;
  /// What LOADs, STOREs and commands may take of the DRAM if all is to cost less than `limit`.
  TrafficLimit traffic_limit(std::uint64_t limit) const;

private:
  /// Cycles from which on what takes `picojoules`, leakage apart, costs `limit` or more.
  std::uint64_t cycle_limit(double picojoules, std::uint64_t limit) const;
  std::uint64_t cost(double picojoules, std::uint64_t cycles) const;
  double leakage(std::uint64_t cycles) const;

  const Machine &npu_;
  Objective objective_;
};

/// "cycles", "pJ", "nJ cycles": what costs are counted in.
std::string_view unit_of(Objective objective);

} // namespace gradweave::compiler
