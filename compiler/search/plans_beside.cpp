#include "compiler/search/plans_beside.hpp"

#include "compiler/ir/macro_banks.hpp"
#include "compiler/request/error.hpp"
#include "graph/layer_fingerprint.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Plans of a layer that are kept.
constexpr std::size_t kMostPlans = 3;

} // namespace

const Machine &PlansBeside::npu_of(std::uint32_t banks) {
  const auto at = npus_.find(banks);
  return at != npus_.end() ? at->second : npus_.emplace(banks, with_banks(npu_, banks)).first->second;
}

const PlansBeside::Plans &PlansBeside::search(const Layer &layer, Pass pass, std::uint32_t banks, bool gradient) {
  const auto [at, is_new] = known_.try_emplace({shape_fingerprint(layer).hex(), pass, banks, gradient});
  Plans &plans = at->second;
  if (!is_new) return plans;
  LayerPlans search(npu_of(banks), plans_, objective_, tried_, gradient);
  try {
    search.prepare({{&layer, pass}}, 1, {});
  } catch (const CompileError &) { // nothing fits so little
    return plans;
  }
  work_ += search.conventional_work();
  work_ += search.other_work();
  const LayerPlans::Choice &choice = search.of(layer, pass);
  plans.push_back(choice.best().phases);
  plans.insert(plans.end(), choice.alternatives.begin(), choice.alternatives.end());
  plans.resize(std::min(plans.size(), kMostPlans));
  if (!gradient) return plans;
  for (std::vector<PhasePlan> &phases : plans)
    phases.erase(
        std::remove_if(phases.begin(), phases.end(), [](const PhasePlan &p) { return p.kind != PhaseKind::kDw; }),
        phases.end());
  return plans;
}

std::vector<PhasePlan> moved_by(std::vector<PhasePlan> plans, std::uint32_t rows) {
  for (PhasePlan &p : plans)
    for (RowRange *area : {&p.split.shared, &p.split.other, &p.split.result})
      area->first += rows;
  return plans;
}

} // namespace gradweave::compiler
