#include "graph/operators/optimizer/step_constants.hpp"

namespace gradweave::graph {
namespace {

double power_of(double base, std::uint64_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1U, base *= base)
    if (exponent % 2 == 1) power *= base;
  return power;
}

} // namespace

StepConstants adamw_constants(double rate, double beta1, double beta2, std::uint64_t step) {
  return {static_cast<float>(rate), static_cast<float>(1 / (1 - power_of(beta1, step))),
          static_cast<float>(1 / (1 - power_of(beta2, step)))};
}

} // namespace gradweave::graph
