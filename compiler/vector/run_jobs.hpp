// Jobs of the vector unit on tensors, by the interpreter of its programs (sw_models/vector): bits, and no cycles.
#pragma once

#include "compiler/vector/job.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// How wide the machine is: lanes of a line, and lines at once.
struct LineWidth {
  std::uint32_t lanes = 1, lines = 1;
};

/// For each of OpJobs::values its elements as words: fp32 values' bits, those of bf16 widened, and whole numbers.
using JobMemory = std::vector<std::vector<std::uint32_t>>;

/// Runs all steps. What values hold that nothing wrote yet does not matter. Lanes beyond a job's last one hold bits
/// without meaning, and are not written (N10). No bit of a result depends on `width`.
void run_jobs(const OpJobs &jobs, const LineWidth &width, JobMemory &memory);

} // namespace gradweave::compiler
