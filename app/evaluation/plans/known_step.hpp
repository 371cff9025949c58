// The plans of a searched step as text, and the same step from them without a search.
#pragma once

#include "app/evaluation/plans/step_effort.hpp"
#include "compiler/schedule/step/step_search.hpp"

#include <string>
#include <vector>

namespace gradweave::evaluation {

/// What the search for a step of these layers (forward and backward passes) found, a line for each of: the effort; what
/// was tried (SearchWork::tried and bursts, of the conventional plans, then of the step); each different plan
/// (plan_text()); of each different layer its plans by itself, conventional ones and those of any order; the phases of
/// the step. No cycles: they are timed again.
std::string step_text(const compiler::SearchedStep &found, const std::vector<compiler::Layer> &layers,
                      const StepEffort &effort);

/// The effort of such a text; throws std::invalid_argument if it is none.
StepEffort effort_of(const std::string &text);

/// The step of such a text, of the same layers, timed again: all that search_step() gives but what it took. Throws
/// std::invalid_argument, with the number of the line if it is one, if the text is none, or of other layers;
/// CompileError if a plan does not fit the NPU.
compiler::SearchedStep timed_step(const std::string &text, const std::vector<compiler::Layer> &layers,
                                  const Machine &npu);

} // namespace gradweave::evaluation
