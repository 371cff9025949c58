// Work of the memory model's evaluation: an iteration over a range of capacities, and what a network is made of.
#pragma once

#include "app/evaluation/unit/evaluations.hpp"
#include "memory_model/policies.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gradweave::evaluation::memory {

/// A network as the memory model takes it.
struct Subject {
  std::string model; ///< a name or a path
  std::uint32_t batch = 1;
  bool separate_layers = true; ///< IterationOptions
};

/// What to estimate.
struct SweepSpec {
  Subject subject;
  memory_model::Policy policy = memory_model::Policy::kThesis;
  memory_model::Sweep sweep;
  bool bounds = false; ///< the least traffic that any placement can have, too, of iterations that have a flow
};

struct SweepPoint {
  double seconds = 1, compute = 1;
  double in = 1, out = 1;               ///< bytes
  double type_two = 0;                  ///< share of the time
  double bound = 0;                     ///< bytes; 0: not known
  std::map<std::string, double> layers; ///< seconds by operator

  double traffic() const { return in + out; }
};

struct SweepResult {
  std::vector<SweepPoint> points; ///< one for each capacity
  std::string problem;            ///< why there is no result: the points say nothing then
};

/// Layers of equal kind and reuse frequency.
struct LayerKind {
  std::string layer;
  bool product = false;
  double reuse_frequency = 0; ///< operations a byte

  /// Whether there is more than bytes to move.
  bool computes() const { return reuse_frequency >= kLeastFrequency; }
  static constexpr double kLeastFrequency = 0.05; ///< a sum has 1 operation for 12 bytes
};

struct NetworkFacts {
  double parameters = 1, operations = 1, steps = 1;
  double least_capacity = 1; ///< bytes
  double weights = 1;        ///< bytes
  double weight_share = 0;   ///< of the bytes that all steps touch, those of weights and their gradients
  double largest_step = 1;   ///< bytes of all its tensors (section 3.3.2)
  double passing_least = 0, passing_most = 0; ///< bytes that pass the largest steps by, on their way (section 3.3.3)
  double smallest_map = 1, largest_map = 1;   ///< bytes of results of convolutions
  std::vector<LayerKind> kinds;
};

/// Asks for a sweep; while nothing is known, points are as they begin. A capacity that is too small is a problem.
SweepResult sweep(Evaluations &evaluations, const SweepSpec &spec);
NetworkFacts facts(Evaluations &evaluations, const Subject &subject);

} // namespace gradweave::evaluation::memory
