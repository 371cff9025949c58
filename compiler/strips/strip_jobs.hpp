// Jobs that go column by column: sums over the rows of a matrix, what follows from these, and elements of the matrix
// that need it.
#pragma once

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector/job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// What a stage has of a value, of some columns.
struct StripTile {
  enum class Kind : std::uint8_t {
    kMatrix, ///< an element for each row and column
    kLine,   ///< an element for each column
    kLines,  ///< a line for each step of the stage, the first of the value on
    kNumber  ///< one element
  };
  Kind kind = Kind::kNumber;
  std::size_t value = 0; ///< which of OpJobs::values
  std::size_t index = 0; ///< kLine: which line of the value; kNumber: which element

  bool operator==(const StripTile &o) const { return kind == o.kind && value == o.value && index == o.index; }
};

struct StripStage {
  const isa::vector::Program *program = nullptr; ///< of the jobs
  std::size_t row = 0, rows = 1;                 ///< first row of the matrices, and how many: or lines, steps
  bool elementwise = false;
  std::vector<StripTile> operands, results;
};

struct StripPass {
  enum class Kind : std::uint8_t {
    kSums,    ///< lines from matrices: a stage for each part of the rows, ascending, each with the same program
    kLines,   ///< a stage that has no matrix
    kElements ///< stages of all elements of matrices
  };
  Kind kind = Kind::kLines;
  std::vector<StripStage> stages;
};

/// Steps `begin` to `end` of jobs.
struct StripJobs {
  std::size_t begin = 0, end = 0;
  std::size_t rows = 0, cols = 0, part_rows = 0; ///< of the matrices; of a part of the sums, the last may have fewer
  std::vector<StripPass> passes;
  std::vector<bool> in_memory; ///< of each value: a step outside, or the graph, reads it

  std::size_t parts() const { return divide_up(rows, part_rows); }
  std::size_t rows_of(std::size_t part) const { return std::min(part_rows, rows - part * part_rows); }
  /// Matrices that sums are taken of, ascending. None is written.
  std::vector<std::size_t> summed() const;
};

/// The first steps of the jobs that follow one another, begin with sums and have elements behind them. Nothing if there
/// are none. References to `jobs` stay.
std::optional<StripJobs> strip_jobs(const OpJobs &jobs);

} // namespace gradweave::compiler
