// Golden matrix products: the naive triple loop of docs/numerics.md, bit for bit, computed fast; and the same under a
// reduction plan, for results that several cores have accumulated in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
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

/// How the reduction [0, R) of a result is cut into parts (N14). Each part is a chain of its own, ascending, from +0;
/// the parts are added in ascending order, each sum rounded to fp32: ((p0 + p1) + p2) + ... The same for all elements
/// of the result. Without cuts there is one part: the naive order of N6.
struct ReductionPlan {
  ReductionPlan() = default;
  ReductionPlan(std::vector<std::uint32_t> where) : cuts(std::move(where)) {} // NOLINT(google-explicit-constructor)

  std::vector<std::uint32_t> cuts; ///< where parts but the first begin: strictly ascending, above 0 and below R
};

/// C(m,n) += A(m,k) B(k,n), the reduction ascending, each step fused (N5, N6); every NaN result is canonical (N2).
/// `c` is row-major with n columns: initial values before, results after. k = 0 leaves all but NaNs as they are.
void accumulate(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k, float *c);

/// A(m,k) B(k,n) under a reduction plan (N13, N14); row-major with n columns. The time is that of accumulate() plus a
/// pass over the result for each part. Throws std::invalid_argument if the plan does not fit k.
std::vector<float> planned_product(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k,
                                   const ReductionPlan &plan);

/// Forward product of a layer: Y(M,N) = X(M,K) W(K,N); the reduction runs over K. Dense row-major, all bf16 (N8),
/// rounded after the last addition of the plan.
std::vector<std::uint16_t> forward(const std::uint16_t *x, const std::uint16_t *w, std::size_t m, std::size_t k,
                                   std::size_t n, const ReductionPlan &plan = {});

/// Input gradient: dX(M,K) = dY(M,N) W(K,N)^T; the reduction runs over N. Dense row-major, all bf16 (N8), rounded after
/// the last addition of the plan.
std::vector<std::uint16_t> input_gradient(const std::uint16_t *dy, const std::uint16_t *w, std::size_t m, std::size_t k,
                                          std::size_t n, const ReductionPlan &plan = {});

/// Weight gradient: dW(K,N) = X(M,K)^T dY(M,N); the reduction runs over M. Dense row-major; fp32 result (N8).
std::vector<float> weight_gradient(const std::uint16_t *x, const std::uint16_t *dy, std::size_t m, std::size_t k,
                                   std::size_t n, const ReductionPlan &plan = {});

} // namespace gradweave::golden
