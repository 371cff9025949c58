// The plainest schedules: the largest tiles that fit, one product after another, nothing tried.
#include "compiler/back/layer_scheduler.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// The loops of a product, outermost first.
using LoopsOf = LoopOrder (*)(const Contraction &c);

/// All of Y, or all of dX and then all of dW. What a search has to beat, and a first example of a scheduler.
class InOrder final : public LayerScheduler {
public:
  InOrder(std::string_view name, std::string_view summary, LoopsOf loops)
      : name_(name), summary_(summary), loops_(loops) {}

  Schedule name() const override { return Schedule(name_); }
  std::string_view summary() const override { return summary_; }

protected:
  /// Throws CompileError if not even single elements fit the scratchpad, or they take too many commands.
  Scheduled schedule_layer(const SchedulingProblem &problem) const override;

private:
  std::string_view name_, summary_;
  LoopsOf loops_;
};

/// Half of a tile side, in whole blocks of the array as long as there are any.
std::uint32_t halved(std::uint32_t side, std::uint32_t block) {
  const std::uint32_t half = (side + 1) / 2;
  return half > block ? static_cast<std::uint32_t>(round_up(half, block)) : half;
}

/// Whether each of the phase's products finds room for its tiles at once. Rows of the scratchpad may be enough in
/// number and too far apart.
bool has_places(PhasePlan plan, const SchedulingProblem &problem) {
  const Layer &layer = problem.layers.front();
  check_products(product_count(plan.kind, plan.tile, layer), layer, problem.npu);
  std::vector<PhasePlan> plans;
  plans.push_back(std::move(plan));
  plans.front().products = plan_products(plans.front(), layer, problem.npu);
  return allocate_once(plans, problem.layers, problem.layout, problem.npu).has_value();
}

/// Starts with the whole part, and halves the longest side until each product fits the scratchpad.
TileShape fitting_tile(PhasePlan plan, const Layer &part, const SchedulingProblem &problem) {
  const PhaseKind kind = plan.kind;
  const NpuConfig &npu = problem.npu;
  TileShape &tile = plan.tile;
  tile = largest_tile(kind, part);
  for (std::uint32_t *side : {&tile.m, &tile.k, &tile.n})
    *side = std::min(*side, kMaxTileSide);
  while (!fits(kind, tile, plan.split, part, npu, plan.parts) || !has_places(plan, problem)) {
    const std::uint32_t longest = std::max({tile.m, tile.k, tile.n});
    if (longest == 1) refuse_scratchpad(part, npu);
    if (tile.m == longest)
      tile.m = halved(tile.m, array_side(kind, Dim::kM, npu));
    else if (tile.k == longest)
      tile.k = halved(tile.k, array_side(kind, Dim::kK, npu));
    else
      tile.n = halved(tile.n, array_side(kind, Dim::kN, npu));
  }
  return tile;
}

Scheduled InOrder::schedule_layer(const SchedulingProblem &problem) const {
  const Layer &layer = problem.layers.front();
  const NpuConfig &npu = problem.npu;
  const Cut cut = cut_of(layer, npu, problem.options);
  const RowRange all{0, npu.spm_rows()};
  Scheduled scheduled;
  scheduled.chosen = name();
  for (const PhaseKind kind : phases(Schedule::kSequential, problem.options.pass, layer)) {
    const Contraction &c = contraction_of(form_of(kind).results.front());
    PhasePlan plan;
    plan.kind = kind;
    plan.parts = phase_parts(cut, form_of(kind).forward(), layer, npu);
    plan.split = {all, all, all};
    plan.loops = loops_(c);
    plan.tile = fitting_tile(plan, part_of(layer, plan.parts, npu), problem);
    scheduled.plans.push_back(plan);
  }
  return scheduled;
}

} // namespace

const Scheduler &in_order_scheduler() {
  static const InOrder scheduler("in_order", "the largest tiles that fit, one by one, without a search",
                                 [](const Contraction &c) { // a result is summed up in one go: it stays
                                   return LoopOrder{c.row, c.col, c.red};
                                 });
  return scheduler;
}

const Scheduler &weight_stationary_scheduler() {
  static const InOrder scheduler(
      "weight_stationary", "the same, but a tile of W or dW stays until all rows have met it", [](const Contraction &) {
        return LoopOrder{Dim::kK, Dim::kN, Dim::kM};
      });
  return scheduler;
}

} // namespace gradweave::compiler
