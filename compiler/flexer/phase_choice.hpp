// The choice among schedules of a phase (flexer_cgo23, algorithm 1, line 5).
#pragma once

#include "compiler/cost/cost.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/request/flexer_policy.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>

namespace gradweave::compiler::flexer {

/// What the metric makes of a schedule: less is better.
double weight_of(Metric metric, double cycles, double bytes);

/// Keeps the schedule that has least of what the metric counts, with cycles by the timing model. What cannot be better
/// is not timed; the first of equal ones stays.
class PhaseChoice {
public:
  /// `npu` must outlive the object.
  PhaseChoice(Metric metric, const Machine &npu) : metric_(metric), npu_(npu) {}

  /// A schedule that takes so many cycles at least is not better than the best if it moves more bytes than this.
  std::uint64_t most_bytes(std::uint64_t least_cycles) const;
  /// Whether the program of the plan is the best so far.
  bool consider(const PhasePlan &plan, const Program &program);

  /// Without products.
  const std::optional<PhasePlan> &best() const { return best_; }

private:
  std::uint64_t most_cycles(double bytes) const;

  Metric metric_;
  const Machine &npu_;
  std::optional<PhasePlan> best_;
  double best_weight_ = std::numeric_limits<double>::infinity();
  std::set<ProgramKey> timed_;
};

} // namespace gradweave::compiler::flexer
