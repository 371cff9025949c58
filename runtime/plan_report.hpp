// What both tables say about the compiler's plans: cycles against bounds, and what tuning found.
#pragma once

#include "runtime/run.hpp"

#include <cstdio>
#include <string>

namespace gradweave::runtime {

/// `bound` as a share of the cycles; "-" if there is no bound or the backend has no time.
std::string bound_share(std::uint64_t bound, std::uint64_t cycles);

/// Bounds of all layers, and what tuning did if it was asked for.
void print_plans(std::FILE *out, const RunOptions &options, const RunResult &run);

} // namespace gradweave::runtime
