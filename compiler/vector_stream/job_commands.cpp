#include "compiler/vector_stream/job_commands.hpp"

#include "compiler/vector_stream/cut/cut_jobs.hpp"
#include "compiler/vector_stream/cut/join_layouts.hpp"
#include "compiler/vector_stream/cut/pack_areas.hpp"
#include "compiler/vector_stream/cut/split_chains.hpp"
#include "compiler/vector_stream/section.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {

std::vector<isa::Command> job_commands(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses,
                                       const Machine &npu, std::uint8_t first_semaphore) {
  if (npu.vectors() == 0)
    throw JobCommandsError(fmt::format("NPU '{}' has no vector unit; give it one by vector_groups", npu.name));
  AreaPlan plan = cut_jobs(split_chains(jobs, addresses, npu), npu);
  pack_areas(plan, npu);
  join_layouts(plan);
  return section_commands(plan, addresses, npu, first_semaphore);
}

} // namespace gradweave::compiler
