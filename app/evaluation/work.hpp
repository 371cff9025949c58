// Evaluates the units that a file does not have yet, on all cores.
#pragma once

#include "app/evaluation/unit/evaluations.hpp"
#include "base/process/process_pool.hpp"

namespace gradweave::evaluation {

/// Evaluates what is missing, `jobs` processes at a time, and keeps each result as soon as the process
/// that found it has ended: an interruption loses what processes are working on, a second or
/// one large unit each. Returns how many were evaluated.
/// Throws Interrupted; std::runtime_error if a process fails.
std::size_t evaluate_missing(const WantedUnits &wanted, ResultsFile &kept, unsigned jobs, bool quiet,
                             const SignalGuard &signals);

} // namespace gradweave::evaluation
