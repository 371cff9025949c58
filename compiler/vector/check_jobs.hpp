// Whether jobs are such that the vector unit can run them.
#pragma once

#include "compiler/vector/job.hpp"

#include <string>

namespace gradweave::compiler {

/// Throws GraphError, from `node` on, naming the step and what is wrong with it: a program that isa::vector::check()
/// refuses; a section that reads or writes a tile that the job has not; more than five operands or four results; a
/// tile that reaches beyond its value; two results at one place; a result of bf16 that a later step reads; a result
/// that lies elsewhere in a value that the job reads, so that order would matter.
void check_jobs(const OpJobs &jobs, const std::string &node);

} // namespace gradweave::compiler
