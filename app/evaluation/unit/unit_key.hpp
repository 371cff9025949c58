// What the results of an evaluation depend on.
#pragma once

#include "app/evaluation/unit/unit.hpp"
#include "app/evaluation/unit/unit_key.hpp"

#include <string>
#include <string_view>

namespace gradweave::evaluation {

/// The fingerprint of all that the result of a unit depends on, and nothing else. `tool` stands for the version of
/// compiler and models.
std::string key_of(const Unit &unit, std::string_view tool);

/// What identifies compiler, models and instruction set of this build: a hash of their libraries.
std::string_view tool_version();

} // namespace gradweave::evaluation
