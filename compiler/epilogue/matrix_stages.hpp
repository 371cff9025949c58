// Jobs over the elements of a product's result.
#pragma once

#include "compiler/vector/job.hpp"
#include "compiler/vector_stream/stage/stage.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::compiler {

/// A product's result as a value of jobs: a matrix, row-major without gaps.
struct ResultMatrix {
  std::size_t value = 0; ///< which of OpJobs::values
  std::size_t rows = 0, cols = 0;
};

/// The stages of all jobs, with a lane for each column of the matrix and a step for each row, if they are local to its
/// elements: each is of elements, what it gives has an element for each of the matrix, and what it reads has such,
/// too, or one for each column, one for each row, or one for all. So they can be run on any tile of the matrix, in
/// order. None if they are not, or if the matrix has one row or column only. The programs are those of `jobs`.
std::vector<Stage> stages_on_matrix(const OpJobs &jobs, const ResultMatrix &matrix);

} // namespace gradweave::compiler
