// How much a step was searched.
#pragma once

#include "compiler/schedule/step/step_search.hpp"

#include <cstdint>

namespace gradweave::evaluation {

/// With how much effort a step was searched, see compiler::StepOptions.
struct StepEffort {
  std::uint64_t layer_plans = 0, step_plans = 0;
  compiler::StepStart start = compiler::StepStart::kReuse;
};

} // namespace gradweave::evaluation
