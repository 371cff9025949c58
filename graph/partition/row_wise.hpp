// Operators whose results have a row for each row of a batch: which may work on some rows of it, and give the same
// bits.
#pragma once

#include "graph/ir/operator.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace gradweave::graph {

/// What each row of an op's results needs of an input.
enum class RowInput : std::uint8_t {
  kRow,   ///< the row of the same number, of the first dimension
  kWhole, ///< all of it: weights, a number
};

/// Of each input of an op whose results are row-wise: row i of each result (of its first dimension) depends on rows i
/// of some inputs and on all of the others, whatever rows there are besides. Nothing of any other op: what adds up over
/// the batch, moves rows, or draws random bits by an element's place. Of operators that are not named in row_wise.cpp,
/// too.
std::optional<std::vector<RowInput>> row_wise_inputs(const OpView &op);

/// A last input of the gradient of a loss: the labels of the whole batch, whose mean the loss is. kNone of
/// other ops.
TensorId whole_batch_of_loss(const OpView &op);

/// The attributes of an op on `share` of each `of` rows.
Attributes attributes_of_rows(const OpView &op, std::uint32_t share, std::uint32_t of);

/// "Split" or "Concat", or what does the same with whole numbers.
std::string_view split_of(ElementType type);
std::string_view concat_of(ElementType type);

} // namespace gradweave::graph
