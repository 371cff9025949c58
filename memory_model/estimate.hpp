// How long a training iteration takes on a machine, and what it moves.
#pragma once

#include "memory_model/iteration/iteration.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::memory_model {

/// All that the model knows of a machine.
struct Machine {
  std::uint64_t capacity = 0; ///< of the cache, in bytes
  double bandwidth = 0;       ///< to and from memory together, bytes a second
  double throughput = 0;      ///< operations a second, a multiply-add is one

  /// Operations that the arithmetic can do while a byte is moved (the thesis's equation 3.2).
  double ridge_point() const { return throughput / bandwidth; }
};

/// Throws std::invalid_argument naming the value for a capacity, bandwidth or throughput that is not above zero, and
/// for a capacity below what the iteration's largest working window needs, naming the step.
void check_machine(const Iteration &iteration, const Machine &machine);
/// The largest working window of all steps, in bytes: the least capacity.
std::uint64_t least_capacity(const Iteration &iteration);

struct StepTime {
  double compute = 0; ///< seconds
  double total = 0;   ///< with what it waits
};

struct Estimate {
  std::uint64_t bytes_in = 0, bytes_out = 0;
  double seconds = 0, compute_seconds = 0;
  std::vector<StepTime> steps;

  std::uint64_t traffic() const { return bytes_in + bytes_out; }
  double stall_seconds() const { return seconds - compute_seconds; }
  double average_bandwidth() const { return static_cast<double>(traffic()) / seconds; } ///< bytes a second
  double utilisation() const { return compute_seconds / seconds; }                      ///< of the arithmetic
};

/// Seconds by operator, and by type.
std::map<std::string, double> seconds_by_layer(const Iteration &iteration, const Estimate &estimate);
/// Of the iteration's time, the share of steps of type II, point-wise layers.
double type_two_share(const Iteration &iteration, const Estimate &estimate);

} // namespace gradweave::memory_model
