// A network's layers under the searched schedules, beside what the search has to beat and what it cannot.
#pragma once

#include "app/evaluation/plans/known_step.hpp"
#include "compiler/schedule/step/step_search.hpp"

#include <functional>

namespace gradweave::evaluation {

/// Costs of a layer by the objective (compiler::Judge), each pass run by itself: cycles by the timing model, by
/// default.
struct LayerSearch {
  compiler::Layer layer;
  std::uint64_t bound = 0;        ///< forward and backward; 0 if the objective is not cycles
  std::uint64_t paper = 0;        ///< igo_micro23 in full on its own tiling: Algorithm 1 and the best partitioning
  std::uint64_t conventional = 0; ///< the best searched plan that computes dX, then dW
  std::uint64_t searched = 0;     ///< the best searched plan of any order
  std::string order;              ///< of the latter's backward pass, or that the layer is the vector unit's
  std::string step_plan;          ///< in the step, for people
};

struct NetworkSearch {
  compiler::Pass pass = compiler::Pass::kBoth;
  std::vector<LayerSearch> layers;
  compiler::Compiled step;     ///< all layers in one stream
  std::uint64_t step_cost = 0; ///< of it
  compiler::SearchedStep found;

  /// Sums over the layers.
  std::uint64_t sum(std::uint64_t LayerSearch::*cost) const;
  /// Mean of searched / bound - 1 over the layers of one group; 0 if there is none. The bound of several groups assumes
  /// that no command computes more than one, which packing could, or counts nothing of the vector unit but its lanes.
  double mean_above_bound() const;
};

/// How long to search.
struct SearchEffort {
  std::uint64_t layer_plans = 100; ///< plans simulated for each layer, pass and order
  std::uint64_t step_plans = 300;  ///< changes of the whole step that are simulated, see compiler::StepOptions
  compiler::StepStart start = compiler::StepStart::kReuse;
  compiler::Objective objective = compiler::Objective::kCycles;
  bool weave_again = false; ///< see compiler::StepOptions
  bool paper = true;        ///< whether to time the paper's scheme, too; else LayerSearch::paper is 0
};

/// Called with the units of work done and to do; may throw.
using SearchProgress = std::function<void(std::uint64_t, std::uint64_t)>;

/// Throws CompileError if a layer does not fit. Device memory is taken to be large enough for the whole step.
NetworkSearch search_network(const std::vector<compiler::Layer> &layers, const Machine &npu, compiler::Pass pass,
                             const SearchEffort &effort, const SearchProgress &progress = {});

/// The same step, forward and backward passes, from the plans that such a search found (network_text()): they are
/// placed, compiled, verified and timed again. Without the paper's scheme. Throws std::invalid_argument if the text is
/// not of these layers, CompileError if the plans are none on this NPU.
NetworkSearch known_network(const std::vector<compiler::Layer> &layers, const Machine &npu, const std::string &plans);

/// The plans of a search over both passes as text (step_text()).
std::string network_text(const NetworkSearch &found, const Machine &npu, const SearchEffort &effort);

} // namespace gradweave::evaluation
