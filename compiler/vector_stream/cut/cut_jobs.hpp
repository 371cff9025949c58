// From jobs to areas.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/stage/area.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Cuts all steps of the jobs into areas that fit a place each (places.hpp). Elements are cut in lanes and steps, and
/// laid out so that lines are full; chains are cut in lanes, and in steps if one strip does not fit otherwise: then
/// they hand on the variables of their program. Moves are cut in rows and columns. Throws JobCommandsError.
AreaPlan cut_jobs(const OpJobs &jobs, const Machine &npu);

} // namespace gradweave::compiler
