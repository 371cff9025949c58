// Jobs as sections of a stream: by strips of columns where that takes fewer cycles, else by areas.
#pragma once

#include "compiler/items/ordered_commands.hpp"
#include "compiler/strips/strip_layout.hpp"
#include "compiler/vector/job.hpp"
#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// Where semaphores of sections begin: those of a pair of engines in all of a stream (vector_stream/job_commands.hpp).
struct SectionSemaphores {
  std::uint8_t areas = 0;  ///< kSectionSemaphores
  std::uint8_t strips = 0; ///< kOrderedSemaphores
};

class JobSections {
public:
  /// `npu` must outlive this.
  JobSections(const Machine &npu, const SectionSemaphores &semaphores) : npu_(npu), semaphores_(semaphores) {}

  /// One section or several, each as job_commands() gives them: between two stands a barrier. With strips they are what
  /// comes before these, the strips, and what comes behind. Chosen by the timing model, once for jobs that are alike.
  /// Throws JobCommandsError.
  std::vector<std::vector<isa::Command>> of(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses);

private:
  using Sections = std::vector<std::vector<isa::Command>>;

  std::optional<StripCut> choose(const OpJobs &jobs, const std::vector<std::uint64_t> &addresses) const;
  Sections with_strips(const OpJobs &jobs, const StripCut &cut, const std::vector<std::uint64_t> &addresses) const;
  std::uint64_t cycles(const Sections &sections, const std::vector<std::uint64_t> &addresses, const OpJobs &jobs) const;

  const Machine &npu_;
  SectionSemaphores semaphores_;
  std::map<std::string, std::optional<StripCut>> known_;
};

} // namespace gradweave::compiler
