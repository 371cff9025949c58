#include "compiler/flexer/phase_choice.hpp"

#include "compiler/cost/cost.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler::flexer {

double weight_of(Metric metric, double cycles, double bytes) {
  switch (metric) {
  case Metric::kLatency:
    return cycles;
  case Metric::kData:
    return bytes;
  case Metric::kLatencyTimesData:
    break;
  }
  return cycles * bytes;
}

std::uint64_t PhaseChoice::most_bytes(std::uint64_t least_cycles) const {
  if (!best_) return ~std::uint64_t{0};
  const double rate =
      static_cast<double>(npu_.memory.bytes_num) / static_cast<double>(npu_.memory.bytes_den); // bytes a cycle
  double most = best_weight_;
  if (metric_ == Metric::kLatency) most = best_weight_ * rate;
  if (metric_ == Metric::kLatencyTimesData)
    most = std::min(std::sqrt(best_weight_ * rate), best_weight_ / std::max(1.0, static_cast<double>(least_cycles)));
  return static_cast<std::uint64_t>(most) + 1;
}

/// From so many cycles on the schedule is not better than the best.
std::uint64_t PhaseChoice::most_cycles(double bytes) const {
  if (!best_ || metric_ == Metric::kData) return kTooSlow;
  const double most = metric_ == Metric::kLatency ? best_weight_ : best_weight_ / bytes;
  return static_cast<std::uint64_t>(most) + 1;
}

bool PhaseChoice::consider(const PhasePlan &plan, const Program &program) {
  const auto bytes = static_cast<double>(moved_bytes(program, npu_));
  const std::uint64_t limit = most_cycles(bytes);
  if (best_ && program_bound(program, npu_) >= limit) return false;
  if (!timed_.insert(key_of(program)).second) return false; // not better than itself
  const std::uint64_t cycles = program_cycles(program, npu_, limit);
  if (cycles == kTooSlow) return false;
  const double weight = weight_of(metric_, static_cast<double>(cycles), bytes);
  if (best_ && weight >= best_weight_) return false;
  best_weight_ = weight;
  best_ = plan;
  best_->products.clear(); // made again when they are needed
  return true;
}

} // namespace gradweave::compiler::flexer
