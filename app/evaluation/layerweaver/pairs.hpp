// Work of the evaluation of Layerweaver: profiles of networks, and pairs of them under policies.
#pragma once

#include "app/evaluation/layerweaver/settings.hpp"
#include "app/evaluation/unit/evaluations.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::evaluation::layerweaver {

/// A network by itself on an NPU.
struct Facts {
  double layers = 1, weights = 1, parameters = 1;
  double multiply_adds = 1;                 ///< of products with weights
  double compute = 1, fetch = 1;            ///< seconds of all layers
  double alone = 1;                         ///< seconds of a batch of many
  double first = 1;                         ///< seconds of a single batch
  std::vector<std::array<double, 4>> times; ///< of a single batch: each layer's fetch and computation, from and to
};

/// How requests come.
enum class Mix : std::uint8_t {
  kFree,  ///< queues never end: the policy decides which model gets how much
  kEqual, ///< of each model as many as take the same time alone
};

struct PolicyResult {
  double throughput = 1;         ///< 1: one model at a time
  double compute = 1, fetch = 1; ///< shares of the time in which PEs compute and memory is read
};

/// Of two models, the compute-intensive one first.
struct PairResult {
  PolicyResult round_robin, ai_mt, greedy, bounded, tiles;
  double bound = 1;              ///< throughput that no order of equal shares of time beats
  double compute = 1, fetch = 1; ///< shares of the time of PEs and memory, one model at a time, each half of the time
};

struct PairSpec {
  Scenario scenario;
  WeaveNetwork first, second;
  Mix mix = Mix::kFree;
  bool beyond = false; ///< bounded and tiles, too, each the best of the study's leads and both ties
};

/// Asks for results; while nothing is known they are as they begin.
class Weavings {
public:
  Weavings(const WeaveStudy &study, Evaluations &evaluations) : study_(study), evaluations_(evaluations) {}

  Facts facts(const WeaveNetwork &network, const Scenario &scenario) const;
  PairResult pair(const PairSpec &spec) const;
  /// Compute-intensive networks with memory-intensive ones.
  std::vector<std::pair<WeaveNetwork, WeaveNetwork>> pairs() const;

private:
  const WeaveStudy &study_;
  Evaluations &evaluations_;
};

} // namespace gradweave::evaluation::layerweaver
