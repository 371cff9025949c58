// Matrices that are no tensor of the graph as it lies, made by jobs: transposed ones, im2col, the phases of N24.
#pragma once

#include "compiler/vector/job.hpp"
#include "train/npu/plan/step_memory.hpp"
#include "train/product_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// Whether the layer's matrix is not in the tensor, whatever the pitches.
inline bool needs_staging(const PlacedTensor &placed) { return placed.transposed || placed.form != Form::kMatrix; }

/// Matrices of a tensor as they lie there, one for each group of a layer.
struct StoredMatrices {
  std::vector<std::size_t> firsts; ///< elements from the beginning of the tensor's place
  std::size_t pitch = 0;           ///< elements from row to row
};
/// Of a tensor in batches, or of weights, of `rows` x `cols` each in the layer; transposed they lie as `cols` x `rows`.
StoredMatrices stored_matrices(const PlacedTensor &placed, std::uint32_t groups, std::size_t rows, std::size_t cols,
                               const graph::Shape &shape, const TensorPlace &place);

/// Makes the layer's matrix, dense, of the tensor in its place; or, of a result, the tensor of the matrix. Values are
/// 0: the tensor, 1: the matrix, and maybe others, which nobody else reads. `first`: of a result in phases, whether
/// this is the first, which fills what no phase has with +0.
compiler::OpJobs staging_jobs(const PlacedTensor &placed, const compiler::Layer &layer, const graph::Graph &graph,
                              const TensorPlace &place, std::uint32_t rows, std::uint32_t cols, bool result,
                              bool first);

} // namespace gradweave::runtime::train
