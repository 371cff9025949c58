#include "compiler/search/plans/step_plans.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <string>

namespace gradweave::compiler {
namespace {

/// Plans that are tried for a step whose layers are searched by themselves with more room.
constexpr std::uint64_t kLeastPlans = 12;

} // namespace

StepPlans::StepPlans(const std::vector<Layer> &layers, Pass pass, const Layout &layout, const Machine &npu,
                     std::uint64_t plans, Objective objective, std::function<void()> tried)
    : layers_(layers), pass_(pass), layout_(layout), machine_(share_step(layers, pass, npu)), objective_(objective),
      array_(machine_.tiles, machine_.unit ? std::min(plans, kLeastPlans) : plans, objective, tried),
      thrifty_(machine_.tiles, machine_.unit ? std::min(plans, kLeastPlans) : plans, Objective::kEdp, tried) {
  if (machine_.unit) alone_.emplace(machine_.npu, plans, objective, std::move(tried));
}

/// Those of the array.
std::vector<LayerPlans::Direction> StepPlans::directions() const {
  std::vector<LayerPlans::Direction> all;
  for_passes([&](std::size_t i, Pass pass) {
    if (!layers_[i].vector) all.push_back({&layers_[i], pass});
  });
  return all;
}

void StepPlans::prepare(unsigned threads, const std::function<void()> &progress) {
  std::map<std::pair<std::string, Pass>, std::shared_ptr<const LayerPlans::Choice>> known; // by shape
  for_passes([&](std::size_t i, Pass pass) {
    const Layer &layer = layers_[i];
    if (!layer.vector) return;
    const auto [at, is_new] = known.try_emplace({shape_fingerprint(layer).hex(), pass});
    if (is_new) at->second = std::make_shared<const LayerPlans::Choice>(choice_of_unit(layer, pass));
    units_[{i, pass}] = at->second;
    sections_[{i, pass}] = std::make_shared<const std::vector<PhasePlan>>(
        section_phases(layer, static_cast<std::uint32_t>(i), pass, layout_, *machine_.unit));
  });
  array_.prepare(directions(), threads, progress);
  if (alone_) alone_->prepare(directions(), threads, progress);
}

void StepPlans::prepare_thrifty(unsigned threads) { thrifty_.prepare(directions(), threads, {}); }

/// Its only plan, by itself.
LayerPlans::Choice StepPlans::choice_of_unit(const Layer &layer, Pass pass) const {
  const Layout layout = make_layout({layer}, pass, machine_.npu);
  OwnPlan own;
  own.phases = section_phases(layer, 0, pass, layout, *machine_.unit);
  const TimedPlan timed = time_plans(own.phases, {layer}, layout, machine_.npu);
  own.cost = Judge(machine_.npu, objective_).cost_of(timed.program, timed.cycles);
  return {{own}, {own.phases}, own, {}};
}

const LayerPlans::Choice &StepPlans::of(std::size_t layer, Pass pass) const {
  return layers_[layer].vector ? *units_.at({layer, pass}) : array_.of(layers_[layer], pass);
}

const LayerPlans::Choice *StepPlans::thrifty(std::size_t layer, Pass pass) const {
  return layers_[layer].vector ? nullptr : &thrifty_.of(layers_[layer], pass);
}

const LayerPlans::Choice &StepPlans::alone(std::size_t layer, Pass pass) const {
  return alone_ && !layers_[layer].vector ? alone_->of(layers_[layer], pass) : of(layer, pass);
}

std::uint64_t StepPlans::bytes_of(std::size_t layer, Pass pass, const OwnPlan &own) const {
  const std::vector<Layer> alone{layers_[layer]};
  const Machine &npu = machine_.npu;
  std::vector<PhasePlan> plans = own.phases;
  for (PhasePlan &plan : plans) {
    plan.layer = 0;
    if (!plan.section) plan.products = plan_products(plan, alone.front(), npu);
  }
  const std::optional<Program> program = allocate(plans, alone, make_layout(alone, pass, npu), npu);
  return element_bytes(traffic_by_layer(*program, npu));
}

bool StepPlans::search_conventional(std::uint64_t bursts, unsigned threads, const std::function<void()> &progress) {
  return (alone_ ? *alone_ : array_).search_conventional(bursts, threads, progress) && !alone_;
}

SearchWork StepPlans::work() const {
  SearchWork work = array_.conventional_work();
  work += array_.other_work();
  if (!alone_) return work;
  work += alone_->conventional_work();
  work += alone_->other_work();
  return work;
}

SearchWork StepPlans::thrifty_work() const {
  SearchWork work = thrifty_.conventional_work();
  work += thrifty_.other_work();
  return work;
}

std::shared_ptr<const std::vector<PhasePlan>> StepPlans::sections(std::size_t layer, Pass pass) const {
  const auto at = sections_.find({layer, pass});
  return at == sections_.end() ? nullptr : at->second;
}

} // namespace gradweave::compiler
