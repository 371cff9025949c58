// A product's stream on the tensors of the graph, as they lie in memory.
#pragma once

#include "compiler/epilogue/add_epilogues.hpp"
#include "compiler/ir/compiled.hpp"
#include "compiler/vector/job.hpp"
#include "train/npu/plan/step_memory.hpp"
#include "train/product_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// Jobs that make a matrix in scratch space of a tensor, or a tensor of one: transposing, im2col, phases of images.
struct StagedMatrix {
  compiler::OpJobs jobs;
  std::vector<std::uint64_t> addresses; ///< of the jobs' values: the tensor, the matrix, and others
};

/// A pass: what comes before its stream, the stream, and what comes behind.
struct ProductSection {
  std::vector<StagedMatrix> before, behind;
  std::vector<isa::Command> commands;
  std::uint64_t scratch_end = 0; ///< behind the last byte of scratch space that it uses
};

/// Puts the compiled pass onto the graph's tensors: its commands' addresses and pitches become those of the tensors.
/// A matrix of each group on its own is found where it lies. One that no pitch leads to goes by scratch space.
/// Throws std::logic_error if a command moves columns of two groups at once.
ProductSection place_product(const ProductPass &pass, const compiler::Compiled &compiled, const graph::Graph &graph,
                             const StepMemory &memory);

/// The STOREs of a result of `rows` x `cols` in the compiled pass; none if one of them has rows that are apart in the
/// tensor, or if that is another matrix. `epilogue`: what they are given as theirs.
std::vector<compiler::ResultStore> result_stores(const compiler::Compiled &compiled, compiler::Tensor result,
                                                 std::size_t rows, std::size_t cols, std::size_t epilogue);

} // namespace gradweave::runtime::train
