// Blocks of elements that change places only: what transposing, slicing, padding, joining and cutting have in common.
#pragma once

#include "graph/operators/loops/entry.hpp"

#include <algorithm>
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

/// Copies bits.
template <class A, typename Element>
void move_block(const Kernel<A> &k, const BlockMove &move, const Element *from, Element *to) {
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < move.dims.size(); ++axis)
    rows *= move.dims[axis];
  const bool scalar = move.dims.empty();
  const std::size_t length = scalar ? 1 : move.dims.back();
  const std::size_t from_step = scalar ? 1 : move.from_strides.back(), to_step = scalar ? 1 : move.to_strides.back();
  k.parallel(rows, length, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t rest = row, source = move.from, target = move.to;
      for (std::size_t axis = scalar ? 0 : move.dims.size() - 1; axis-- > 0;) {
        source += rest % move.dims[axis] * move.from_strides[axis];
        target += rest % move.dims[axis] * move.to_strides[axis];
        rest /= move.dims[axis];
      }
      if (from_step == 1 && to_step == 1)
        std::copy_n(from + source, length, to + target);
      else
        for (std::size_t i = 0; i < length; ++i)
          to[target + i * to_step] = from[source + i * from_step];
    }
  });
}

/// The dimensions of a shape as an attribute has them.
std::vector<std::int64_t> numbers_of(const Shape &shape);
/// The shape that an attribute names; fails if a dimension is not positive.
Shape shape_attribute(const Inference &op, std::string_view attribute);

} // namespace gradweave::graph
