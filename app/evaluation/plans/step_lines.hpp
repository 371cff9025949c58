// The lines of a step's text (known_step.hpp).
#pragma once

#include "app/evaluation/plans/step_effort.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::evaluation {

/// What lines begin with.
constexpr std::string_view kEffort = "effort", kWork = "work", kPlan = "plan", kOwn = "own", kRun = "run";
/// What a search began with.
constexpr std::string_view kReuse = "reuse", kPlacement = "placement";

/// A line's number in the text, from 1, its first word, and what stands behind it.
struct StepLine {
  std::size_t number = 0;
  std::string word, rest;
};

/// Those that are not empty. Throws std::invalid_argument, with its number, for a line of a single word.
std::vector<StepLine> lines_of(const std::string &text);

/// Numbers between separators; throws std::invalid_argument for anything else.
std::vector<std::uint64_t> numbers(const std::string &text, char separator);

/// The rest of a line of effort; throws std::invalid_argument if it is none.
StepEffort effort_from(const std::string &text);

/// The same for layers that share their plans.
std::string shape_of(const compiler::Layer &layer);

} // namespace gradweave::evaluation
