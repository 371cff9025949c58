// Several networks that are compiled into one stream.
#pragma once

#include "compiler/back/vector_section.hpp"
#include "compiler/ir/layout.hpp"
#include "compiler/request/jobs.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

/// Marks the layers of a job that the vector unit will compute (Layer::vector): those whose passes fit into what their
/// sections have of the scratchpad.
void take_vector_unit(std::vector<Layer> &layers, Pass pass, const Machine &npu);

/// Jobs as layers that are compiled together: those of one job after those of another, called JOB/LAYER, so that what
/// goes by names (shared tensors, data) stays within a job.
class JobSet {
public:
  /// Throws CompileError if the NPU has several cores, not the memory for the tensors of all jobs, or not the
  /// semaphores;
  /// std::invalid_argument without jobs, for one without layers, for two of one name, or
  /// for a layer of the vector unit that does not fit.
  JobSet(std::vector<WeaveJob> jobs, const Machine &npu);

  std::size_t size() const { return names_.size(); }
  const std::string &name(std::size_t job) const { return names_[job]; }
  const std::vector<Layer> &layers() const { return layers_; }
  const Jobs &jobs() const { return jobs_; }
  const Layout &layout() const { return layout_; }
  const Machine &npu() const { return npu_; }
  /// The NPU with the scratchpad that tiles may lie in: without the rows that sections of the vector unit have, its
  /// last macro-banks, if any layer is the unit's (Layer::vector).
  const Machine &tile_npu() const { return tile_npu_; }
  /// What those sections have.
  const VectorRoom &vector_room() const { return vector_room_; }
  /// The sections of a layer that the vector unit computes, in their order.
  const std::vector<std::shared_ptr<const VectorSection>> &vector_sections(const JobSection &section) const {
    return vector_sections_.at({section.layer, section.pass});
  }
  /// What a job computes, in the order in which it has to.
  const std::vector<JobSection> &sections(std::size_t job) const { return sections_[job]; }

private:
  void give_room_to_unit();

  std::vector<std::string> names_;
  std::vector<Layer> layers_;
  Jobs jobs_;
  Machine npu_, tile_npu_;
  VectorRoom vector_room_;
  Layout layout_;
  std::vector<std::vector<JobSection>> sections_; ///< by job
  std::map<std::pair<std::uint32_t, Pass>, std::vector<std::shared_ptr<const VectorSection>>> vector_sections_;
};

} // namespace gradweave::compiler
