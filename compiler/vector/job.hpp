// Jobs of the vector unit: what a VECTOR command runs on tiles, without where these lie in the scratchpad. An operator
// that is no product is one job or several, and moves of rows.
#pragma once

#include "graph/ir/graph.hpp"
#include "isa/vector/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gradweave::compiler {

/// What jobs read and write: a tensor of the graph, or values between two jobs of an operator.
struct JobValue {
  std::string name;                      ///< for people
  graph::TensorId tensor = graph::kNone; ///< kNone: between jobs
  graph::ElementType type = graph::ElementType::kFp32;
  std::size_t elements = 0;
};

/// Which way lines lie in a tile.
enum class LineOf : std::uint8_t {
  kRow,    ///< lanes along the columns, steps along the rows
  kColumn, ///< lanes along the rows, steps along the columns
};

/// A rectangle of a value as a matrix whose columns lie side by side: element (row, column) is
/// first + row pitch + column. A bf16 value is widened where it is read, and rounded where it is written (N8); elements
/// of 32 bits, whole numbers too, are moved as they are.
struct JobTile {
  std::size_t value = 0; ///< which of OpJobs::values
  std::size_t first = 0; ///< element, as the pitch is in elements
  std::size_t pitch = 0;
  LineOf line = LineOf::kRow;
  bool lanes_move = true; ///< no: every lane, and strip, has the same element
  bool steps_move = true; ///< no: every step has the same line

  /// The element of a lane, counted through the strips, in a step.
  std::size_t element(std::size_t lane, std::size_t step) const {
    const std::size_t along_lanes = lanes_move ? lane : 0, along_steps = steps_move ? step : 0;
    return line == LineOf::kRow ? first + along_steps * pitch + along_lanes : first + along_lanes * pitch + along_steps;
  }
};

/// A program over lanes and steps. Strips are as many as lanes take on a machine.
struct VectorJob {
  std::size_t program = 0; ///< which of OpJobs::programs
  std::uint32_t lanes = 1, steps = 1;
  std::vector<JobTile> operands, results; ///< t0, t1, ...; o0, o1, ...
  /// No step depends on another: whoever cuts it into tiles may cut steps, and make lanes of steps.
  bool elementwise = false;
};

/// Rows that are moved: `length` elements each, side by side on both sides.
struct MoveJob {
  std::size_t from = 0, to = 0; ///< which of OpJobs::values; of one type
  std::size_t from_first = 0, from_pitch = 0, to_first = 0, to_pitch = 0;
  std::size_t rows = 1, length = 1;
};

using JobStep = std::variant<VectorJob, MoveJob>;

/// An operator's jobs, in the order in which they are to run.
struct OpJobs {
  std::vector<JobValue> values;
  std::vector<isa::vector::Program> programs;
  std::vector<JobStep> steps;
};

} // namespace gradweave::compiler
