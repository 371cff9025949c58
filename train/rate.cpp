#include "train/rate.hpp"

#include "graph/operators/optimizer/step_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gradweave::runtime::train {
namespace {

constexpr std::array<RateForm, 3> kForms{RateForm::kConstant, RateForm::kLinear, RateForm::kCosine};

/// Of an angle from 0 to pi, by its series: libraries differ in the last bit.
double cosine(double angle) {
  double term = 1, sum = 1;
  for (int i = 2; i <= 40; i += 2)
    sum += term *= -angle * angle / (i * (i - 1));
  return sum;
}

} // namespace

std::string_view to_string(RateForm form) {
  switch (form) {
  case RateForm::kConstant:
    return "constant";
  case RateForm::kLinear:
    return "linear";
  case RateForm::kCosine:
    return "cosine";
  }
  return "?";
}

std::string rate_form_names() { return "constant, linear, cosine"; }

RateForm parse_rate_form(std::string_view name) {
  for (const RateForm form : kForms)
    if (name == to_string(form)) return form;
  throw std::invalid_argument(fmt::format("unknown schedule of the rate '{}'; known: {}", name, rate_form_names()));
}

double rate_at(const RateSchedule &schedule, std::uint64_t step) {
  if (step < schedule.warmup)
    return schedule.rate * static_cast<double>(step + 1) / static_cast<double>(schedule.warmup + 1);
  const double all = static_cast<double>(std::max<std::uint64_t>(1, schedule.steps - schedule.warmup));
  const double done = std::min(1.0, static_cast<double>(step - schedule.warmup) / all);
  if (schedule.form == RateForm::kLinear) return schedule.rate * (1 - done);
  if (schedule.form == RateForm::kCosine) return schedule.rate * 0.5 * (1 + cosine(3.14159265358979323846 * done));
  return schedule.rate;
}

std::vector<float> step_constants(const graph::TrainingOptions &options, const RateSchedule &schedule,
                                  std::uint64_t step) {
  const double rate = rate_at(schedule, step);
  if (options.optimizer == graph::OptimizerKind::kSgd) return {static_cast<float>(rate)};
  const graph::StepConstants constants = graph::adamw_constants(rate, options.beta1, options.beta2, step + 1);
  return {constants.begin(), constants.end()};
}

} // namespace gradweave::runtime::train
