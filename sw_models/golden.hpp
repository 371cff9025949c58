// Golden matrix products: the naive triple loop of docs/numerics.md, bit for bit, computed fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::golden {

/// A bf16 matrix anywhere in memory: element (i, j) is data[i * row_stride + j * col_stride] (strides in elements).
/// Swapping the strides transposes.
struct MatrixView {
  const std::uint16_t *data = nullptr;
  std::size_t row_stride = 0;
  std::size_t col_stride = 1;

  MatrixView transposed() const { return {data, col_stride, row_stride}; }
};

/// C(m,n) += A(m,k) B(k,n), the reduction ascending, each step fused (N5, N6); every NaN result is canonical (N2).
/// `c` is row-major with n columns: initial values before, results after. k = 0 leaves all but NaNs as they are.
void accumulate(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k, float *c);

/// A(m,k) B(k,n) under a reduction plan: `cuts` are the indices of the reduction, ascending and inside it, where a new
/// sum from +0 begins; the sums are added in ascending order (N13, N14). No cuts: one sum. Row-major with n columns.
std::vector<float> planned_product(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k,
                                   const std::vector<std::uint32_t> &cuts);

/// Forward product of a layer: Y(M,N) = X(M,K) W(K,N); the reduction runs over K. Dense row-major, all bf16 (N8).
std::vector<std::uint16_t> forward(const std::uint16_t *x, const std::uint16_t *w, std::size_t m, std::size_t k,
                                   std::size_t n);

/// Input gradient: dX(M,K) = dY(M,N) W(K,N)^T; the reduction runs over N. Dense row-major, all bf16 (N8).
std::vector<std::uint16_t> input_gradient(const std::uint16_t *dy, const std::uint16_t *w, std::size_t m, std::size_t k,
                                          std::size_t n);

/// Weight gradient: dW(K,N) = X(M,K)^T dY(M,N); the reduction runs over M. Dense row-major; fp32 result (N8).
std::vector<float> weight_gradient(const std::uint16_t *x, const std::uint16_t *dy, std::size_t m, std::size_t k,
                                   std::size_t n);

} // namespace gradweave::golden
