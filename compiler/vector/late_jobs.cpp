#include "compiler/vector/late_jobs.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

bool reads(const JobStep &step, std::size_t value) {
  if (const auto *move = std::get_if<MoveJob>(&step)) return move->from == value;
  const std::vector<JobTile> &tiles = std::get<VectorJob>(step).operands;
  return std::any_of(tiles.begin(), tiles.end(), [value](const JobTile &t) { return t.value == value; });
}

bool writes(const JobStep &step, std::size_t value) {
  if (const auto *move = std::get_if<MoveJob>(&step)) return move->to == value;
  const std::vector<JobTile> &tiles = std::get<VectorJob>(step).results;
  return std::any_of(tiles.begin(), tiles.end(), [value](const JobTile &t) { return t.value == value; });
}

/// Whether the step may come before the job rather than behind it.
bool may_pass(const VectorJob &job, const JobStep &step) {
  return std::none_of(job.operands.begin(), job.operands.end(),
                      [&](const JobTile &t) { return writes(step, t.value); }) &&
         std::none_of(job.results.begin(), job.results.end(), [&](const JobTile &t) { return writes(step, t.value); });
}

bool reads_result(const JobStep &step, const VectorJob &job) {
  return std::any_of(job.results.begin(), job.results.end(), [&](const JobTile &t) { return reads(step, t.value); });
}

/// Whether the step is of as many elements: others would not have the job's in the scratchpad.
bool is_as_large(const JobStep &step, const VectorJob &job) {
  const auto *other = std::get_if<VectorJob>(&step);
  return other != nullptr && std::uint64_t{other->lanes} * other->steps == std::uint64_t{job.lanes} * job.steps;
}

} // namespace

void put_late(OpJobs &jobs) {
  for (std::size_t at = jobs.steps.size(); at-- > 0;) {
    const auto *job = std::get_if<VectorJob>(&jobs.steps[at]);
    if (job == nullptr || !job->elementwise) continue;
    const bool between = std::all_of(job->results.begin(), job->results.end(),
                                     [&](const JobTile &t) { return jobs.values[t.value].tensor == graph::kNone; });
    if (!between) continue;
    std::size_t to = at + 1;
    while (to < jobs.steps.size() && !reads_result(jobs.steps[to], *job) && may_pass(*job, jobs.steps[to]))
      ++to;
    if (to < jobs.steps.size() && reads_result(jobs.steps[to], *job) && is_as_large(jobs.steps[to], *job))
      std::rotate(jobs.steps.begin() + static_cast<std::ptrdiff_t>(at),
                  jobs.steps.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                  jobs.steps.begin() + static_cast<std::ptrdiff_t>(to));
  }
}

} // namespace gradweave::compiler
