// The learning rate of each step, and the other constants that an optimizer needs of it.
#pragma once

#include "graph/passes/training.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime::train {

enum class RateForm : std::uint8_t {
  kConstant,
  kLinear, ///< falls from the full rate at the first step behind the warm-up to 0 behind the last one
  kCosine, ///< the same along half a cosine
};
/// Throws std::invalid_argument listing the names that there are.
RateForm parse_rate_form(std::string_view name);
std::string_view to_string(RateForm form); ///< "constant", "linear", "cosine"
std::string rate_form_names();

struct RateSchedule {
  RateForm form = RateForm::kConstant;
  double rate = 0;          ///< the full one
  std::uint64_t warmup = 0; ///< steps before it is reached: step s of them takes (s + 1) / (warmup + 1) of it
  std::uint64_t steps = 0;  ///< of the whole training; at least warmup
};

/// Of a step, from 0.
double rate_at(const RateSchedule &schedule, std::uint64_t step);

/// What training_graph()'s input of constants takes in a step, from 0: the rate, and AdamW's corrections of bias
/// (graph/operators/optimizer/step_constants.hpp).
std::vector<float> step_constants(const graph::TrainingOptions &options, const RateSchedule &schedule,
                                  std::uint64_t step);

} // namespace gradweave::runtime::train
