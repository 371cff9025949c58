// Jobs whose results lie in the place of an operand.
#pragma once

#include "compiler/vector/job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// Fits jobs to values that share a place: a move of elements onto themselves is left out. Throws graph::GraphError,
/// from `node` on, if a job would read of the old value what an earlier element, or job, has overwritten.
void fit_in_place(compiler::OpJobs &jobs, const std::vector<std::uint64_t> &addresses, const std::string &node);

} // namespace gradweave::runtime::train
