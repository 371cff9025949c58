// From an operator of a graph to jobs of the vector unit.
#pragma once

#include "compiler/vector/job.hpp"
#include "graph/ir/operator.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace gradweave::compiler {

/// Whether the operator has jobs; without them it is a product, or runs on the host.
bool has_jobs(const graph::Operator &type);

/// Whether lower_op() has to know the elements of an op's int32 inputs: they decide which rows are moved or updated.
bool needs_indices(const graph::Graph &graph, const graph::Op &op);

/// The op's jobs: its text, written down (graph/operators/loops/lines.hpp), cut into rectangles. `indices`: for each
/// input, the elements of an int32 tensor that decide which rows are moved or updated (ids of an embedding); null
/// where they are not known. Checked by check_jobs(). Throws GraphError: the operator has no jobs, needs indices that
/// are missing, or reduces over dimensions that no rectangle has; vector::RecordingError if its program does not fit
/// the machine.
OpJobs lower_op(const graph::Graph &graph, const graph::Op &op,
                const std::vector<const std::vector<std::int32_t> *> &indices = {});

/// Elements of int32 tensors that decide which rows are moved or updated.
using KnownIndices = std::map<graph::TensorId, const std::vector<std::int32_t> *>;

/// The jobs of several ops, which stand in an order in which they can run. A tensor is one value, whichever ops name
/// it. One that an op of them gives, that only others of them read, that is no result or update of the graph and that
/// `keep` does not ask for, is a value between jobs (its tensor is kNone), of the tensor's type: whoever runs the jobs
/// need not have it in memory. `consumers`: of the graph. Throws as lower_op().
OpJobs lower_ops(const graph::Graph &graph, const graph::Consumers &consumers, const std::vector<graph::OpId> &ops,
                 const KnownIndices &known = {}, const std::function<bool(graph::TensorId)> &keep = {});

} // namespace gradweave::compiler
