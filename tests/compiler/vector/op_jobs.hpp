// Jobs of an op beside golden execution.
#pragma once

#include "compiler/vector/run_jobs.hpp"
#include "tests/compiler/vector/step_ops.hpp"

#include <string>

namespace gradweave::compiler {

/// The jobs of an op; indices are those of the data.
OpJobs lowered(const graph::Graph &graph, const graph::Op &op, const OpData &data);

/// The first element of the jobs' results that differs from golden execution; empty if none does.
std::string difference(const graph::Graph &graph, const graph::Op &op, const OpData &data, const OpJobs &jobs,
                       const LineWidth &width);

} // namespace gradweave::compiler
