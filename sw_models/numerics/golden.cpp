// Blocked and vectorised over outputs only: the sequence of fused multiply-adds that one output sees is that of the
// naive loop, so the blocking cannot change a bit (N9, N12). Accumulators between blocks of the reduction are fp32 in
// memory, which is exact. This file is compiled with -O3 -march=native; without FMA hardware it is only slower.
#include "sw_models/numerics/golden.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gradweave::golden {

namespace {

// A tile of kTileRows x kTileCols accumulators fits the vector registers (8 x 32 floats: 16 of AVX-512's 32).
constexpr std::size_t kTileRows = 8;
constexpr std::size_t kTileCols = 32;
constexpr std::size_t kDepth = 512;     // reduction steps per block: a packed panel of A or B stays in the L1 cache
constexpr std::size_t kBlockCols = 512; // columns per block: packed B stays in the L2 cache

/// Packs lines [0, count) of a walk of `depth` steps as fp32: out[step * width + line]; missing lines are zero and
/// never stored back. `line_stride` and `step_stride` are in elements.
void pack(const std::uint16_t *data, std::size_t line_stride, std::size_t step_stride, std::size_t count,
          std::size_t width, std::size_t depth, float *out) {
  for (std::size_t s = 0; s < depth; ++s) {
    const std::uint16_t *in = data + s * step_stride;
    float *row = out + s * width;
    for (std::size_t l = 0; l < count; ++l)
      row[l] = fp32_from_bf16(in[l * line_stride]);
    for (std::size_t l = count; l < width; ++l)
      row[l] = 0;
  }
}

using Vector = float __attribute__((vector_size(64)));
constexpr std::size_t kLanes = sizeof(Vector) / sizeof(float);
constexpr std::size_t kVectors = kTileCols / kLanes;

Vector load(const float *p) {
  Vector v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// Lane by lane fmaf, as one instruction where the machine has it.
Vector fused(float a, Vector b, Vector c) {
  for (std::size_t l = 0; l < kLanes; ++l)
    c[l] = __builtin_fmaf(a, b[l], c[l]);
  return c;
}

/// The tile of accumulators c (row-major, kTileCols wide) advances by `depth` steps of packed a and b.
void advance_tile(const float *a, const float *b, std::size_t depth, float *c) {
  Vector acc[kTileRows][kVectors];
  std::memcpy(acc, c, sizeof acc);
  for (std::size_t s = 0; s < depth; ++s)
    for (std::size_t j = 0; j < kVectors; ++j) {
      const Vector bj = load(b + s * kTileCols + j * kLanes);
      for (std::size_t i = 0; i < kTileRows; ++i)
        acc[i][j] = fused(a[s * kTileRows + i], bj, acc[i][j]);
    }
  std::memcpy(c, acc, sizeof acc);
}

/// Runs advance_tile() on the valid rows x cols part of a row-major matrix with `n` columns.
void advance_part(const float *a, const float *b, std::size_t depth, std::size_t rows, std::size_t cols, float *c,
                  std::size_t n) {
  float tile[kTileRows * kTileCols] = {};
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(c + i * n, cols, tile + i * kTileCols);
  advance_tile(a, b, depth, tile);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(tile + i * kTileCols, cols, c + i * n);
}

void check(const ReductionPlan &plan, std::size_t k) {
  std::uint32_t low = 0;
  for (const std::uint32_t cut : plan.cuts) {
    if (cut <= low || cut >= k)
      throw std::invalid_argument(
          fmt::format("reduction plan: cut at {} after {} in a reduction of {} steps; cuts must "
                      "ascend and leave no part empty",
                      cut, low, k));
    low = cut;
  }
}

std::vector<std::uint16_t> rounded(const std::vector<float> &values) {
  std::vector<std::uint16_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), bf16_from_fp32);
  return out;
}

} // namespace

void accumulate(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k, float *c) {
  std::vector<float> packed_a(kTileRows * kDepth);
  std::vector<float> packed_b(kBlockCols * kDepth);
  for (std::size_t n0 = 0; n0 < n; n0 += kBlockCols) {
    const std::size_t block_cols = std::min(kBlockCols, n - n0);
    for (std::size_t k0 = 0; k0 < k; k0 += kDepth) {
      const std::size_t depth = std::min(kDepth, k - k0);
      for (std::size_t j = 0; j < block_cols; j += kTileCols)
        pack(b.data + k0 * b.row_stride + (n0 + j) * b.col_stride, b.col_stride, b.row_stride,
             std::min(kTileCols, block_cols - j), kTileCols, depth, packed_b.data() + j * depth);
      for (std::size_t i = 0; i < m; i += kTileRows) {
        const std::size_t rows = std::min(kTileRows, m - i);
        pack(a.data + i * a.row_stride + k0 * a.col_stride, a.row_stride, a.col_stride, rows, kTileRows, depth,
             packed_a.data());
        for (std::size_t j = 0; j < block_cols; j += kTileCols)
          advance_part(packed_a.data(), packed_b.data() + j * depth, depth, rows, std::min(kTileCols, block_cols - j),
                       c + i * n + n0 + j, n);
      }
    }
  }
  // A NaN absorbs every later step, so making it canonical once is the same as after every step.
  std::transform(c, c + m * n, c, canonical);
}

std::vector<float> planned_product(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k,
                                   const ReductionPlan &plan) {
  check(plan, k);
  std::vector<float> sum(m * n), part;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= plan.cuts.size(); ++i) {
    const std::size_t end = i < plan.cuts.size() ? plan.cuts[i] : k;
    std::vector<float> &chain = i == 0 ? sum : part;
    chain.assign(m * n, 0.0F);
    accumulate({a.data + first * a.col_stride, a.row_stride, a.col_stride},
               {b.data + first * b.row_stride, b.row_stride, b.col_stride}, m, n, end - first, chain.data());
    if (i != 0) std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), add_fp32);
    first = end;
  }
  return sum;
}

std::vector<std::uint16_t> forward(const std::uint16_t *x, const std::uint16_t *w, std::size_t m, std::size_t k,
                                   std::size_t n, const ReductionPlan &plan) {
  return rounded(planned_product({x, k, 1}, {w, n, 1}, m, n, k, plan));
}

std::vector<std::uint16_t> input_gradient(const std::uint16_t *dy, const std::uint16_t *w, std::size_t m, std::size_t k,
                                          std::size_t n, const ReductionPlan &plan) {
  return rounded(planned_product({dy, n, 1}, MatrixView{w, n, 1}.transposed(), m, k, n, plan));
}

std::vector<float> weight_gradient(const std::uint16_t *x, const std::uint16_t *dy, std::size_t m, std::size_t k,
                                   std::size_t n, const ReductionPlan &plan) {
  return planned_product(MatrixView{x, k, 1}.transposed(), {dy, n, 1}, k, n, m, plan);
}

} // namespace gradweave::golden
