// Choice of tile sizes, loop orders, scratchpad split and load window for a layer.
#pragma once

#include "compiler/layout.hpp"
#include "compiler/program.hpp"

namespace gradweave::compiler {

struct SearchResult {
  std::vector<PhasePlan> plans;
  Program program;
  std::uint64_t estimated_cycles = 0;
};

/// The plan with the smallest estimate found. Every schedule's phases get the same effort, so that schedules can be
/// compared. Deterministic. Throws CompileError if not even products of single elements fit the
/// scratchpad, or if tiles that fit are too many.
SearchResult search(const Layer &layer, Schedule schedule, Pass pass, const Layout &layout, const NpuConfig &npu);

/// Tile sizes and orders, for people.
std::string describe(const std::vector<PhasePlan> &plans);

} // namespace gradweave::compiler
