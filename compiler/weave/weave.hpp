// Jobs woven into one stream.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/weave/job_plans.hpp"
#include "compiler/weave/weave_options.hpp"

#include <cstdint>

namespace gradweave::compiler {

/// An order with plans, placed in the scratchpad.
struct Woven {
  TimedPlan plan;
  std::uint64_t orders = 0;       ///< tried before changes
  std::uint64_t first_cycles = 0; ///< of the fastest of these
  std::uint64_t changes = 0, improvements = 0;
};

/// One order over the tile products of all jobs, and one residency walk over it: no part of the scratchpad is set aside
/// for a job unless that is faster. Bits do not depend on any of it. `plans` gets those that changes make. Throws
/// CompileError if the NPU's memory has no room for tensors, partial sums and commands.
Woven weave(const JobSet &jobs, JobPlans &plans, const WeaveOptions &options);

/// Checks, encodes and verifies what came of it (compile_plan()); jobs are held apart by verify_jobs(). Throws
/// CompilerDefect if a check fails.
Compiled compile_woven(const JobSet &jobs, const Woven &woven);

} // namespace gradweave::compiler
