#include "compiler/weave/job_set.hpp"

#include "compiler/lower/layout.hpp"
#include "compiler/request/error.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

void check_jobs(const std::vector<WeaveJob> &jobs, const Machine &npu) {
  if (jobs.empty()) throw std::invalid_argument("no jobs to weave; name at least one");
  std::set<std::string> names;
  for (const WeaveJob &job : jobs) {
    if (job.layers.empty()) throw std::invalid_argument(fmt::format("job '{}' has no layers", job.name));
    if (!names.insert(job.name).second)
      throw std::invalid_argument(fmt::format("two jobs are called '{}'; give each a name of its own", job.name));
  }
  if (npu.cores != 1)
    throw CompileError(
        fmt::format("jobs are woven on one core; NPU '{}' has {}; choose one with npu.cores = 1", npu.name, npu.cores));
}

std::vector<JobRange> ranges_of(const std::vector<WeaveJob> &jobs) {
  std::vector<JobRange> ranges;
  std::uint32_t first = 0;
  for (const WeaveJob &job : jobs) {
    const auto end = first + static_cast<std::uint32_t>(job.layers.size());
    ranges.push_back({first, end, job.pass});
    first = end;
  }
  return ranges;
}

std::vector<JobSection> sections_of(const JobRange &range) {
  std::vector<JobSection> sections;
  for (std::uint32_t i = range.first; i < range.end && range.pass != Pass::kBackward; ++i)
    sections.push_back({i, Pass::kForward});
  for (std::uint32_t i = range.end; i-- > range.first && range.pass != Pass::kForward;)
    sections.push_back({i, Pass::kBackward});
  return sections;
}

} // namespace

JobSet::JobSet(std::vector<WeaveJob> jobs, const Machine &npu)
    : jobs_((check_jobs(jobs, npu), ranges_of(jobs))), npu_(npu) {
  for (WeaveJob &job : jobs) {
    names_.push_back(job.name);
    for (Layer &layer : job.layers) {
      for (std::string *name : {&layer.name, &layer.input, &layer.x_of, &layer.weights})
        if (!name->empty()) *name = job.name + '/' + *name;
      layer.index = static_cast<std::uint32_t>(layers_.size());
      layers_.push_back(std::move(layer));
    }
  }
  layout_ = make_layout(layers_, jobs_, npu_);
  if (layout_.bytes > npu.memory.size_bytes)
    throw CompileError(fmt::format("the tensors of {} jobs need {} bytes of device memory together, NPU '{}' has {}; "
                                   "raise memory.size_bytes, or name fewer jobs, copies or samples",
                                   size(), layout_.bytes, npu.name, npu.memory.size_bytes));
  for (const JobRange &range : jobs_.ranges())
    sections_.push_back(sections_of(range));
}

} // namespace gradweave::compiler
