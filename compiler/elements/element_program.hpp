// From operators of elements to a program of the vector unit: the start of lowering what is no product.
#pragma once

#include "graph/ir/graph.hpp"
#include "isa/vector/program.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// The ops cannot be one program. what() names the op, and what to do.
class ElementProgramError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A tensor that a program reads or writes, element by element with its first result.
struct ElementEdge {
  enum class Repeat : std::uint8_t {
    kNone,  ///< as many elements as the result has
    kRow,   ///< one row, for all rows
    kScalar ///< one element, for all
  };
  graph::TensorId tensor = graph::kNone;
  bool fp32 = false;
  Repeat repeat = Repeat::kNone;
};

/// One loop: a step a line of each tensor.
struct ElementProgram {
  isa::vector::Program program;
  std::vector<ElementEdge> operands; ///< t0, t1, ...
  std::vector<ElementEdge> results;  ///< o0, o1, ...
  std::uint32_t rows = 1, cols = 1;  ///< of the first result; cols is its last dimension
};

/// Tensors whose elements the program has as constants: those of a step of AdamW.
using KnownValues = std::map<graph::TensorId, std::vector<float>>;

/// The names of operators that can be recorded, for people.
std::string recordable_operators();

/// The ops, which stand in an order in which they can run, as one program. Each value is that of the op's golden
/// execution under the contract: it is recorded from the same template, and rounded where the edge of the graph is
/// bf16, whether it leaves the program or not. A tensor that ops outside read, or nobody, is a result. Throws
/// ElementProgramError, and vector::RecordingError if it needs more than the unit has.
ElementProgram record_elements(const graph::Graph &graph, const std::vector<graph::OpId> &ops,
                               const KnownValues &known = {});

} // namespace gradweave::compiler
