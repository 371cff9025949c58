// Sums of all elements of a tensor in an order that no machine matters to.
#pragma once

#include "graph/operators/loops/rows.hpp"

#include <vector>

namespace gradweave::graph {

/// The sum of row sums, rows ascending from +0; a row's is one of its own, from +0 (N14): fold(sum, i) for the elements
/// of the row ascending.
template <class A, typename Fold>
typename A::Value total_by_rows(const Kernel<A> &k, const Shape &shape, std::size_t work, Fold fold) {
  using Value = typename A::Value;
  const std::size_t cols = shape.cols();
  std::vector<Value> sums(shape.rows());
  for_rows(k, shape, work, [&](std::size_t row) {
    Value sum = 0;
    for (std::size_t i = row * cols; i < (row + 1) * cols; ++i)
      sum = fold(sum, i);
    sums[row] = sum;
  });
  return row_sum<A>(sums.size(), [&sums](std::size_t row) { return sums[row]; });
}

} // namespace gradweave::graph
