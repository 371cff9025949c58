#include "app/evaluation/plans/known_step.hpp"
#include "app/evaluation/plans/plan_text.hpp"
#include "app/evaluation/plans/step_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

namespace gradweave::evaluation {
namespace {

using compiler::PhasePlan;

constexpr std::size_t kPhasesOfALine = 16;

/// Plans by number: layers repeat theirs.
class Numbered {
public:
  std::size_t number_of(const PhasePlan &plan) {
    const auto [at, is_new] = numbers_.try_emplace(plan_text(plan), numbers_.size());
    if (is_new) text_ += fmt::format("{} {}\n", kPlan, at->first);
    return at->second;
  }
  std::string numbers_of(const std::vector<PhasePlan> &plans) {
    std::vector<std::size_t> numbers;
    for (const PhasePlan &plan : plans)
      numbers.push_back(number_of(plan));
    return fmt::format("{}", fmt::join(numbers, ","));
  }
  const std::string &text() const { return text_; }

private:
  std::map<std::string, std::size_t> numbers_;
  std::string text_;
};

} // namespace

std::string step_text(const compiler::SearchedStep &found, const std::vector<compiler::Layer> &layers,
                      const StepEffort &effort) {
  Numbered plans;
  std::string own, run;
  std::map<std::string, std::size_t> shapes;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const compiler::LayerCosts &costs = found.layers[i];
    if (!layers[i].vector && shapes.try_emplace(shape_of(layers[i]), i).second)
      own += fmt::format("{} {} {} {}\n", kOwn, i, plans.numbers_of(costs.conventional_phases),
                         plans.numbers_of(costs.searched_phases));
  }
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    if (i % kPhasesOfALine == 0) run += fmt::format("{}{}", i == 0 ? "" : "\n", kRun);
    run += fmt::format(" {}:{}", found.plans[i].layer, plans.number_of(found.plans[i]));
  }
  const compiler::SearchWork &conventional = found.conventional_work, &step = found.work;
  return fmt::format("{} {} {} {}\n{} {} {} {} {}\n{}{}{}\n", kEffort, effort.layer_plans, effort.step_plans,
                     effort.start == compiler::StepStart::kReuse ? kReuse : kPlacement, kWork, conventional.tried,
                     conventional.bursts, step.tried, step.bursts, plans.text(), own, run);
}

} // namespace gradweave::evaluation
