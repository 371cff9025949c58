#include "graph/operators/loops/matrix_product.hpp"

#include "base/process/parallel.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <algorithm>
#include <array>

namespace gradweave::graph {
namespace {

/// A dense bf16 copy, which lies as the matrix does: by rows, or by columns if these are contiguous. The values are
/// bf16's, so nothing is rounded.
class Packed {
public:
  Packed(const Matrix<float> &a, std::size_t rows, std::size_t cols, unsigned threads)
      : by_columns_(a.row_stride == 1 && a.col_stride != 1), length_(by_columns_ ? rows : cols), bits_(rows * cols) {
    const std::size_t stride = by_columns_ ? a.col_stride : a.row_stride;
    const std::size_t step = by_columns_ ? a.row_stride : a.col_stride;
    constexpr std::size_t kElements = 1U << 16U;
    parallel_for(by_columns_ ? cols : rows, kElements / length_ + 1, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t line = begin; line < end; ++line)
        copy(a.data + line * stride, step, bits_.data() + line * length_);
    });
  }

  golden::MatrixView view() const {
    return by_columns_ ? golden::MatrixView{bits_.data(), 1, length_} : golden::MatrixView{bits_.data(), length_, 1};
  }

private:
  void copy(const float *from, std::size_t step, std::uint16_t *to) const {
    if (step == 1)
      for (std::size_t i = 0; i < length_; ++i)
        to[i] = static_cast<std::uint16_t>(bits_of_fp32(from[i]) >> 16U);
    else
      for (std::size_t i = 0; i < length_; ++i)
        to[i] = static_cast<std::uint16_t>(bits_of_fp32(from[i * step]) >> 16U);
  }

  bool by_columns_;
  std::size_t length_;
  std::vector<std::uint16_t> bits_;
};

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
  const Packed left(a, m, k, threads), right(b, k, n, threads);
  constexpr std::size_t kWorthAThread = 1U << 20U;
  parallel_for(m, kWorthAThread / (n * k) + 1, threads, [&](std::size_t begin, std::size_t end) {
    golden::MatrixView rows = left.view();
    rows.data += begin * rows.row_stride;
    golden::accumulate(rows, right.view(), end - begin, n, k, c + begin * n);
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
