#include "graph/operators/optimizer/step_constants.hpp"

namespace gradweave::graph {
namespace {

/// Ends early once nothing is left: the power stays 0.
double power_of(double base, std::uint32_t exponent) {
  double power = 1;
  for (std::uint32_t i = 0; i < exponent && power != 0; ++i)
    power *= base;
  return power;
}

} // namespace

StepConstants adamw_constants(double rate, double beta1, double beta2, std::uint32_t step) {
  return {static_cast<float>(rate), static_cast<float>(1 / (1 - power_of(beta1, step))),
          static_cast<float>(1 / (1 - power_of(beta2, step)))};
}

} // namespace gradweave::graph
