#include "memory_model/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::memory_model {

std::uint64_t least_capacity(const Iteration &iteration) {
  std::uint64_t least = 0;
  for (const Step &step : iteration.steps)
    least = std::max(least, working_window(iteration, step));
  return least;
}

void check_machine(const Iteration &iteration, const Machine &machine) {
  if (!(machine.bandwidth > 0) || !std::isfinite(machine.bandwidth))
    throw std::invalid_argument(fmt::format("bandwidth {} GB/s: it must be a number above 0", machine.bandwidth / 1e9));
  if (!(machine.throughput > 0) || !std::isfinite(machine.throughput))
    throw std::invalid_argument(
        fmt::format("throughput {} T operations/s: it must be a number above 0", machine.throughput / 1e12));
  if (machine.capacity == 0) throw std::invalid_argument("capacity 0 MiB: it must be above 0");
  for (const Step &step : iteration.steps)
    if (const std::uint64_t window = working_window(iteration, step); window > machine.capacity)
      throw std::invalid_argument(fmt::format(
          "capacity {:.2f} MiB: {}'s {} '{}' {} needs {:.2f} MiB for its weights and a row of each other tensor; the "
          "least for this network is {:.2f} MiB",
          static_cast<double>(machine.capacity) / 1048576.0, iteration.name, step.layer, step.name,
          step.backward ? "on the way back" : "on the way forward", static_cast<double>(window) / 1048576.0,
          static_cast<double>(least_capacity(iteration)) / 1048576.0));
}

std::map<std::string, double> seconds_by_layer(const Iteration &iteration, const Estimate &estimate) {
  std::map<std::string, double> seconds;
  for (std::size_t s = 0; s < iteration.steps.size(); ++s)
    seconds[iteration.steps[s].layer] += estimate.steps[s].total;
  return seconds;
}

double type_two_share(const Iteration &iteration, const Estimate &estimate) {
  double point_wise = 0;
  for (std::size_t s = 0; s < iteration.steps.size(); ++s)
    if (!iteration.steps[s].product) point_wise += estimate.steps[s].total;
  return point_wise / estimate.seconds;
}

} // namespace gradweave::memory_model
