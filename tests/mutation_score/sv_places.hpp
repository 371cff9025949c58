// Where the RTL can be given faults.
#pragma once

#include "tests/mutation_score/place.hpp"

#include <string>
#include <vector>

namespace gradweave::mutation {

/// The places of a file with modules or packages.
///
/// Every expression of an assignment, a condition, a connected port or a called task counts, with two exceptions that
/// could not be chosen while a model runs: what has to be constant (parameters, ranges, sizes of casts and
/// replications, headers of loops, generate conditions, case labels), and clocked or initial blocks that hold
/// assertions. Throws std::runtime_error naming the line of a form that it does not know.
std::vector<Place> sv_places(const std::string &source);

} // namespace gradweave::mutation
