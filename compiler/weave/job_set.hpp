// Several networks that are compiled into one stream.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/request/jobs.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A network's layers, to be computed once.
struct WeaveJob {
  std::string name;          ///< of this job alone; its layers are called after it
  std::vector<Layer> layers; ///< in the order of the forward pass
  Pass pass = Pass::kForward;
};

/// A layer's pass in one direction.
struct JobSection {
  std::uint32_t layer = 0; ///< index among the layers of all jobs
  Pass pass = Pass::kForward;
};

/// Jobs as layers that are compiled together: those of one job after those of another, called JOB/LAYER, so that what
/// goes by names (shared tensors, data) stays within a job.
class JobSet {
public:
  /// Throws CompileError if the NPU has several cores, or not the memory for the tensors of all jobs;
  /// std::invalid_argument without jobs, for one without layers, or for two of one name.
  JobSet(std::vector<WeaveJob> jobs, const Machine &npu);

  std::size_t size() const { return names_.size(); }
  const std::string &name(std::size_t job) const { return names_[job]; }
  const std::vector<Layer> &layers() const { return layers_; }
  const Jobs &jobs() const { return jobs_; }
  const Layout &layout() const { return layout_; }
  const Machine &npu() const { return npu_; }
  /// What a job computes, in the order in which it has to.
  const std::vector<JobSection> &sections(std::size_t job) const { return sections_[job]; }

private:
  std::vector<std::string> names_;
  std::vector<Layer> layers_;
  Jobs jobs_;
  Machine npu_;
  Layout layout_;
  std::vector<std::vector<JobSection>> sections_; ///< by job
};

} // namespace gradweave::compiler
