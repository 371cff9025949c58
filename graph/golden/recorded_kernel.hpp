// What an operator's text, executed in the arithmetic that writes down (recorded.hpp), leaves behind: walks with
// programs of the vector unit, and moves of rows.
#pragma once

#include "graph/golden/kernel.hpp"
#include "graph/golden/recorded.hpp"
#include "isa/vector/program.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace gradweave::graph {

struct RecordedWalk {
  LineWalk walk; ///< operand tile i is in[i], result tile o is out[o]
  isa::vector::Program program;
};

/// Elements that change places: no arithmetic, all bits as they are. Operands have no lanes, and no steps along the
/// last of the dimensions `rows`: there `length` elements follow each other.
struct RowMove {
  std::vector<std::size_t> rows; ///< dimensions, outermost first
  std::size_t length = 1;
  WalkOperand from, to; ///< strides of `rows` are those of steps
};

using RecordedStep = std::variant<RecordedWalk, RowMove>;

template <> class Kernel<Recorded> : public KernelOp {
public:
  using Value = Recorded::Value;

  /// `indices`: for each input, the elements of an int32 tensor that decide what is moved where; null if they are not
  /// known.
  Kernel(const Graph &graph, const Op &op, std::vector<const std::vector<std::int32_t> *> indices)
      : KernelOp(graph, op), indices_(std::move(indices)) {}

  /// Whether index_in() may be asked for.
  bool has_indices(std::size_t i) const { return i < indices_.size() && indices_[i] != nullptr; }
  const std::int32_t *index_in(std::size_t i) const { return indices_[i]->data(); }

  WalkValue temporary(std::size_t elements) {
    temporaries_.push_back(elements);
    return {WalkValue::Kind::kTemporary, temporaries_.size() - 1};
  }
  void add(RecordedStep step) { steps_.push_back(std::move(step)); }

  /// In the order in which they are to run.
  const std::vector<RecordedStep> &steps() const { return steps_; }
  /// fp32 elements of each.
  const std::vector<std::size_t> &temporaries() const { return temporaries_; }

private:
  std::vector<const std::vector<std::int32_t> *> indices_;
  std::vector<std::size_t> temporaries_;
  std::vector<RecordedStep> steps_;
};

} // namespace gradweave::graph
