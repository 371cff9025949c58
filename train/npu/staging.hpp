// Matrices that are no tensor of the graph as it lies, made by jobs: transposed ones, im2col, the phases of N24.
#pragma once

#include "compiler/vector/job.hpp"
#include "train/product_plan.hpp"

namespace gradweave::runtime::train {

/// Whether the layer's matrix is not in the tensor, whatever the pitches.
inline bool needs_staging(const PlacedTensor &placed) { return placed.transposed || placed.form != Form::kMatrix; }

/// Makes the layer's matrix, dense, of the tensor; or, of a result, the tensor of the matrix. Values are 0: the tensor,
/// 1: the matrix. `first`: of a result in phases, whether this is the first, which fills what no phase has with +0.
compiler::OpJobs staging_jobs(const PlacedTensor &placed, const compiler::Layer &layer, const graph::Graph &graph,
                              std::uint32_t rows, std::uint32_t cols, bool result, bool first);

} // namespace gradweave::runtime::train
