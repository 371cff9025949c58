// A network's whole training step on one NPU, searched: layer by layer and as one stream.
#pragma once

#include "app/evaluation/unit/network_search.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

struct StepUnit {
  std::vector<compiler::Layer> layers;
  Machine npu; ///< one core
  SearchEffort effort;
  std::string plans = {}; ///< what a search found already (network_text()): nothing is searched; empty: nothing known
  std::string name = {};  ///< for people
  std::string place = {}; ///< likewise, where the plans are from (KnownStep)
};

/// The fingerprint of all that the result of a unit depends on; `tool` as for units of one layer.
std::string key_of(const StepUnit &unit, std::string_view tool);

/// The fingerprint of what plans are of: the layers and the NPU.
std::string plans_key(const StepUnit &unit);

/// Cycles of forward and backward pass, see NetworkSearch.
struct StepResult {
  std::uint64_t bound = 0, conventional = 0, searched = 0; ///< sums over the layers, each run by itself
  double above_bound = 0;                             ///< mean of searched / bound - 1 over the layers of one group
  std::uint64_t step = 0;                             ///< all layers in one stream
  std::uint64_t compute_bound = 0, traffic_bound = 0; ///< of the step
  /// What the searches did, see compiler::SearchWork.
  std::uint64_t conventional_tried = 0, conventional_bursts = 0, step_tried = 0, step_bursts = 0;
  std::uint64_t array = 0, memory = 0; ///< cycles that the step's products take of the array, its transfers of memory
  std::string plans;                   ///< the unit's, or what the search found (network_text())
  std::string problem;                 ///< why there is no result; empty: there is one
};

/// One line of JSON and back. step_from_text() throws std::invalid_argument if the text is not what to_text() wrote.
std::string to_text(const StepResult &result);
StepResult step_from_text(const std::string &text);

/// Searches, or times the known plans. A network that cannot be compiled, also because of a defect of the compiler,
/// gives a result with `problem`. `progress` gets the fraction done; may throw.
StepResult evaluate(const StepUnit &unit, const std::function<void(double)> &progress);

/// Products of array-sized tiles in a step.
double step_products(const std::vector<compiler::Layer> &layers, const Machine &npu);

/// Seconds of CPU time that evaluate() takes, very roughly.
double estimated_seconds(const StepUnit &unit);

} // namespace gradweave::evaluation
