// Gradients of embeddings, of which only rows that a batch names are not zero: who need not be told of the others.
#pragma once

#include "compiler/vector/job.hpp"
#include "graph/ir/graph.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// The int32 tensor that names the rows which the GatherGradient of a matrix gives, if it need not give others: updates
/// of the same rows alone read it, or one of all rows, which takes the others to be zero (gradient_by_rows()). Else
/// kNone.
graph::TensorId named_rows_of(const graph::Graph &graph, const graph::Op &op);

/// Of an AdamW or Sgd whose gradient is such a one, the op that gives it; kNone of all other ops.
graph::OpId gradient_by_rows(const graph::Graph &graph, const graph::Op &op);

/// Jobs of a GatherGradient that begin with zeros everywhere, with zeros in the first row that is not named, and in
/// each that is right before it is first added to.
void zero_named_rows(compiler::OpJobs &jobs, const std::vector<std::int32_t> &named, const graph::Shape &shape);

/// Jobs of elements that update a parameter of `shape` from `gradient`, by ranges of rows: those that are named from
/// their gradient, the others from a zero of the first of them.
void update_by_rows(compiler::OpJobs &jobs, graph::TensorId gradient, const std::vector<std::int32_t> &named,
                    const graph::Shape &shape);

} // namespace gradweave::runtime::train
