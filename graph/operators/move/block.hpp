// Blocks of elements that change places only: what transposing, slicing, padding, joining and cutting have in common.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/move_rows.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// Distance in elements from an index of each dimension to the next, of a dense tensor.
std::vector<std::size_t> strides_of(const Shape &shape);

/// A walk over `dims`, the last one fastest, through two tensors at once. Offsets and strides in elements.
struct BlockMove {
  std::vector<std::size_t> dims, from_strides, to_strides;
  std::size_t from = 0, to = 0; ///< where element 0 is
};

/// The same as rows: what lies side by side in both.
RowMove rows_of(const BlockMove &move, const WalkValue &from, const WalkValue &to);

/// Copies bits.
template <class A> void move_block(Kernel<A> &k, const BlockMove &move, const WalkValue &from, const WalkValue &to) {
  move_rows(k, rows_of(move, from, to));
}

/// The dimensions of a shape as an attribute has them.
std::vector<std::int64_t> numbers_of(const Shape &shape);
/// The shape that an attribute names; fails if a dimension is not positive.
Shape shape_attribute(const Inference &op, std::string_view attribute);

} // namespace gradweave::graph
