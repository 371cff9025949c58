#include "compiler/search/plans/plans_beside.hpp"

#include "base/process/parallel.hpp"
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

PlansBeside::Key PlansBeside::key_of(const Wanted &wanted) {
  return {shape_fingerprint(*wanted.layer).hex(), wanted.pass, wanted.banks, wanted.gradient};
}

void PlansBeside::prepare(const std::vector<Wanted> &wanted, unsigned threads) {
  struct New {
    Wanted wanted;
    const Machine *npu;
    Plans *plans;
    SearchWork work = {};
  };
  std::vector<New> all;
  for (const Wanted &one : wanted)
    if (const auto [at, is_new] = known_.try_emplace(key_of(one)); is_new)
      all.push_back({one, &npu_of(one.banks), &at->second});
  for_each_in_parallel(all.size(), threads, [&](std::size_t i) {
    Found found = search(all[i].wanted, *all[i].npu);
    *all[i].plans = std::move(found.plans);
    all[i].work = found.work;
  });
  for (const New &one : all)
    work_ += one.work;
}

const PlansBeside::Plans &PlansBeside::plans(const Wanted &wanted) {
  prepare({wanted}, 1);
  return known_.at(key_of(wanted));
}

PlansBeside::Found PlansBeside::search(const Wanted &wanted, const Machine &npu) const {
  const auto &[layer, pass, banks, gradient] = wanted;
  Found found;
  Plans &plans = found.plans;
  LayerPlans search(npu, plans_, objective_, tried_, gradient);
  try {
    search.prepare({{layer, pass}}, 1, {});
  } catch (const CompileError &) { // nothing fits so little
    return found;
  }
  found.work = search.conventional_work();
  found.work += search.other_work();
  const LayerPlans::Choice &choice = search.of(*layer, pass);
  plans.push_back(choice.best().phases);
  plans.insert(plans.end(), choice.alternatives.begin(), choice.alternatives.end());
  plans.resize(std::min(plans.size(), kMostPlans));
  if (!gradient) return found;
  for (std::vector<PhasePlan> &phases : plans)
    phases.erase(
        std::remove_if(phases.begin(), phases.end(), [](const PhasePlan &p) { return p.kind != PhaseKind::kDw; }),
        phases.end());
  return found;
}

std::vector<PhasePlan> moved_by(std::vector<PhasePlan> plans, std::uint32_t rows) {
  for (PhasePlan &p : plans)
    for (RowRange *area : {&p.split.shared, &p.split.other, &p.split.result})
      area->first += rows;
  return plans;
}

} // namespace gradweave::compiler
