// Search for the plan of a whole step: layers are planned one by one first, then changed together, judged by the timing
// model on the stream of all.
#pragma once

#include "compiler/request/error.hpp"
#include "compiler/search/plans/layer_plans.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>

namespace gradweave::compiler {

/// What the search of a step begins with.
enum class StepStart : std::uint8_t {
  kReuse,     ///< the layers' plans of each level; what each layer takes over is tried layer by layer
  kPlacement, ///< their plans of the level that makes the fastest step, and what the memory model keeps between layers
};

struct StepOptions {
  Pass pass = Pass::kBoth;
  /// Plans tried for each layer and order at least before the layers are changed together; more where conventional
  /// plans gain by it.
  std::uint64_t layer_plans = 100;
  /// Changes of the whole step that are tried from each beginning. Fewer if they take more than a million bursts and
  /// commands each: the time of a search is bounded by it.
  std::uint64_t step_plans = 300;
  StepStart start = StepStart::kReuse;
  /// At last weaves once more, also with plans that move less (docs/search.md), for up to twice the work. Not
  /// from a placement, nor for another objective than cycles.
  bool weave_again = false;
  /// What is minimised, of each layer and of the step.
  Objective objective = Objective::kCycles;
  /// Plans are searched in so many at most, and are the same with any number of them; 0: one for each core.
  unsigned threads = 0;
  /// Called now and then with the units of work done and to do, in any thread, but one at a time. May throw, which
  /// abandons the search.
  std::function<void(std::uint64_t, std::uint64_t)> progress = nullptr;
};

/// Costs by the objective (Judge) of a layer's own best plans, each pass run by itself: cycles, by default.
struct LayerCosts {
  std::uint64_t conventional = 0;         ///< of the best that computes dX, then dW
  std::uint64_t searched = 0;             ///< of the best in any order
  Schedule order = Schedule::kSequential; ///< of the latter's backward pass
  /// The phases of these, of the forward pass first, without products; none of a layer of the vector unit.
  std::vector<PhasePlan> conventional_phases = {}, searched_phases = {};
};

/// What the search found. Costs are of the objective: cycles, by the timing model, by default.
struct SearchedStep {
  std::vector<PhasePlan> plans; ///< in the order in which they run, products included: for compile_plans()
  Objective objective = Objective::kCycles;
  std::uint64_t cost = 0;        ///< of the step
  std::uint64_t first_cost = 0;  ///< of the step from the layers' own best plans, before they were changed together
  std::uint64_t apart_cost = 0;  ///< sum of the layers' own best plans, each run by itself
  std::uint64_t apart_bytes = 0; ///< of elements that LOADs and STOREs of those plans move
  std::vector<LayerCosts> layers;
  std::uint64_t starts = 0;    ///< sets of plans that the search of the step began from
  std::uint64_t simulated = 0; ///< changes of the step that the timing model judged
  std::uint64_t improvements = 0;
  std::vector<StepFall> falls;  ///< of the beginning that the plans come from
  SearchWork work;              ///< of the search for the step: layers in all orders, and the step
  SearchWork conventional_work; ///< of the search for conventional plans, which went on until it had done as much
};

/// Forward passes of all layers in their order, then backward passes in the opposite one, but that layers with one X
/// may run side by side; what the pass leaves out is left out. Several cores share every layer. Deterministic but for
/// the seconds. Throws CompileError as compile() does.
SearchedStep search_step(const std::vector<Layer> &layers, const Machine &npu, const StepOptions &options);

} // namespace gradweave::compiler
