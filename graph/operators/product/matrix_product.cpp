#include "graph/operators/product/matrix_product.hpp"

#include "base/process/parallel.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <algorithm>
#include <array>

namespace gradweave::graph {
namespace {

/// As a dense bf16 matrix; the values are bf16's, so nothing is rounded.
std::vector<std::uint16_t> packed(const Matrix<float> &a, std::size_t rows, std::size_t cols) {
  std::vector<std::uint16_t> bits(rows * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      bits[i * cols + j] = static_cast<std::uint16_t>(bits_of_fp32(a.data[i * a.row_stride + j * a.col_stride]) >> 16U);
  return bits;
}

constexpr std::size_t kRows = 4, kCols = 16;

/// A block of at most kRows x kCols results.
void advance_block(const Matrix<double> &a, const Matrix<double> &b, std::size_t rows, std::size_t cols, std::size_t k,
                   double *c, std::size_t n) {
  std::array<std::array<double, kCols>, kRows> sums{};
  std::array<double, kCols> line{};
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(c + i * n, cols, sums[i].begin());
  for (std::size_t s = 0; s < k; ++s) {
    for (std::size_t j = 0; j < cols; ++j)
      line[j] = b.data[s * b.row_stride + j * b.col_stride];
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = a.data[i * a.row_stride + s * a.col_stride];
      for (std::size_t j = 0; j < kCols; ++j)
        sums[i][j] += x * line[j];
    }
  }
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(sums[i].begin(), cols, c + i * n);
}

} // namespace

void accumulate_product(const Matrix<float> &a, const Matrix<float> &b, std::size_t m, std::size_t n, std::size_t k,
                        float *c, unsigned threads) {
  const std::vector<std::uint16_t> left = packed(a, m, k), right = packed(b, k, n);
  constexpr std::size_t kWorthAThread = 1U << 20U;
  parallel_for(m, kWorthAThread / (n * k) + 1, threads, [&](std::size_t begin, std::size_t end) {
    golden::accumulate({left.data() + begin * k, k, 1}, {right.data(), n, 1}, end - begin, n, k, c + begin * n);
  });
}

void accumulate_product(const Matrix<double> &a, const Matrix<double> &b, std::size_t m, std::size_t n, std::size_t k,
                        double *c, unsigned threads) {
  const std::size_t blocks = (m + kRows - 1) / kRows;
  parallel_for(blocks, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = 0; j < n; j += kCols)
      for (std::size_t i = begin * kRows; i < std::min(m, end * kRows); i += kRows) {
        const Matrix<double> rows{a.data + i * a.row_stride, a.row_stride, a.col_stride};
        const Matrix<double> cols{b.data + j * b.col_stride, b.row_stride, b.col_stride};
        advance_block(rows, cols, std::min(kRows, m - i), std::min(kCols, n - j), k, c + i * n + j, n);
      }
  });
}

} // namespace gradweave::graph
