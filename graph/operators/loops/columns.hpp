// Chains down the columns of a matrix.
#pragma once

#include "graph/golden/kernel.hpp"

#include <algorithm>
#include <cstddef>

namespace gradweave::graph {

/// For each column j: value = step(value, index of element (i, j), i, j) for the rows i ascending, from what out[j]
/// has. Columns stand side by side in vectors; each is one thread's.
template <class A, typename Step>
void fold_columns(const Kernel<A> &k, std::size_t rows, std::size_t cols, typename A::Value *out, Step step) {
  constexpr std::size_t kBlock = 64;
  const std::size_t blocks = (cols + kBlock - 1) / kBlock;
  k.parallel(blocks, rows * kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * kBlock, width = std::min(kBlock, cols - first);
      typename A::Value sums[kBlock] = {};
      std::copy_n(out + first, width, sums);
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t j = 0; j < width; ++j)
          sums[j] = step(sums[j], row * cols + first + j, row, first + j);
      std::copy_n(sums, width, out + first);
    }
  });
}

} // namespace gradweave::graph
