// Matrix products for golden execution, in both arithmetics.
#pragma once

#include "graph/golden/kernel.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// A matrix inside a tensor: element (i, j) is data[i * row_stride + j * col_stride]. Of bf16 values, widened.
template <class V> struct Matrix {
  const V *data = nullptr;
  std::size_t row_stride = 0, col_stride = 1;

  Matrix transposed() const { return {data, col_stride, row_stride}; }
};

/// c(m,n) += a(m,k) b(k,n), the reduction ascending, each step fused (N5, N6). c has n columns.
void accumulate_product(const Matrix<float> &a, const Matrix<float> &b, std::size_t m, std::size_t n, std::size_t k,
                        float *c, unsigned threads);
void accumulate_product(const Matrix<double> &a, const Matrix<double> &b, std::size_t m, std::size_t n, std::size_t k,
                        double *c, unsigned threads);

} // namespace gradweave::graph
