// From jobs to groups of them.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "sw_models/config/npu_config.hpp"

#include <variant>
#include <vector>

namespace gradweave::compiler {

/// In the order of the jobs. A job joins the group before it if they have tiles in common, if all that one writes and
/// the other has is the same in each lane (and step), if an area of both fits a place, and if that takes less time,
/// nearly. The programs are those of `jobs`.
std::vector<std::variant<JobGroup, MoveJob>> join_jobs(const OpJobs &jobs, const NpuConfig &npu);

} // namespace gradweave::compiler
