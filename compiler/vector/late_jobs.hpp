// Jobs that need not run before what reads their results.
#pragma once

#include "compiler/vector/job.hpp"

namespace gradweave::compiler {

/// Puts a job of elements whose results are values between jobs in front of the first one that reads them, if that is
/// of as many elements and no step
/// that it then comes behind writes what it reads or writes: so both may have the values in the scratchpad
/// (compiler/vector_stream/group/join_jobs.hpp).
void put_late(OpJobs &jobs);

} // namespace gradweave::compiler
