// The fast golden products equal the naive triple loop of the numeric contract, bit for bit (N5, N6, N9).
#include "base/random/dice.hpp"
#include "base/random/random_data.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave {
namespace {

using golden::MatrixView;

std::vector<std::uint16_t> random_matrix(std::size_t elements, const DataMix &mix, Dice &dice) {
  std::vector<std::uint16_t> m(elements);
  for (auto &v : m)
    v = random_bf16(mix, dice);
  return m;
}

void naive(MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k, float *c) {
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t s = 0; s < k; ++s)
        c[i * n + j] =
            mac(a.data[i * a.row_stride + s * a.col_stride], b.data[s * b.row_stride + j * b.col_stride], c[i * n + j]);
}

std::vector<std::uint32_t> bits(const std::vector<float> &v) {
  std::vector<std::uint32_t> out(v.size());
  std::transform(v.begin(), v.end(), out.begin(), bits_of_fp32);
  return out;
}

/// Where two matrices differ first, for the message.
void expect_same(const std::vector<float> &actual, const std::vector<float> &expected, std::uint64_t seed) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    ASSERT_EQ(bits_of_fp32(actual[i]), bits_of_fp32(expected[i])) << "element " << i << " seed " << seed;
}

TEST(Golden, AccumulateEqualsTheTripleLoop) {
  const DataMix mixes[] = {{}, {0.1, 0}, {0.05, 0.001}};
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Dice dice(seed);
    const DataMix &mix = mixes[seed % 3];
    const std::size_t m = 1 + dice.below(40);
    const std::size_t n = 1 + dice.below(seed % 10 == 0 ? 600 : 70);
    const std::size_t k = 1 + dice.below(seed % 7 == 0 ? 1200 : 60);
    const auto a = random_matrix(m * k, mix, dice);
    const auto b = random_matrix(k * n, mix, dice);
    const MatrixView a_view = dice.chance(0.5) ? MatrixView{a.data(), k, 1} : MatrixView{a.data(), 1, m};
    const MatrixView b_view = dice.chance(0.5) ? MatrixView{b.data(), n, 1} : MatrixView{b.data(), 1, k};
    std::vector<float> c(m * n);
    for (float &v : c)
      v = dice.chance(0.3) ? 0.0F : fp32_from_bits(random_fp32(mix, dice));
    std::vector<float> expected = c;
    golden::accumulate(a_view, b_view, m, n, k, c.data());
    naive(a_view, b_view, m, n, k, expected.data());
    ASSERT_NO_FATAL_FAILURE(expect_same(c, expected, seed));
  }
}

/// The check above would see one wrong order: the reduction descending differs.
TEST(Golden, TheOrderOfTheReductionShows) {
  Dice dice(3);
  const std::size_t m = 8;
  const std::size_t n = 8;
  const std::size_t k = 50;
  const auto a = random_matrix(m * k, {}, dice);
  const auto b = random_matrix(k * n, {}, dice);
  std::vector<std::uint16_t> a_reversed(a.size());
  std::vector<std::uint16_t> b_reversed(b.size());
  for (std::size_t s = 0; s < k; ++s) {
    for (std::size_t i = 0; i < m; ++i)
      a_reversed[i * k + s] = a[i * k + (k - 1 - s)];
    for (std::size_t j = 0; j < n; ++j)
      b_reversed[s * n + j] = b[(k - 1 - s) * n + j];
  }
  std::vector<float> up(m * n);
  std::vector<float> down(m * n);
  golden::accumulate({a.data(), k, 1}, {b.data(), n, 1}, m, n, k, up.data());
  golden::accumulate({a_reversed.data(), k, 1}, {b_reversed.data(), n, 1}, m, n, k, down.data());
  EXPECT_NE(bits(up), bits(down));
}

/// N12: cutting the reduction into pieces, partial sums kept in fp32, changes nothing.
TEST(Golden, PartialSumsAreExact) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Dice dice(seed);
    const DataMix mix{0.05, seed % 2 == 0 ? 0.0 : 0.001};
    const std::size_t m = 1 + dice.below(20);
    const std::size_t n = 1 + dice.below(40);
    const std::size_t k = 2 + dice.below(300);
    const auto a = random_matrix(m * k, mix, dice);
    const auto b = random_matrix(k * n, mix, dice);
    std::vector<float> whole(m * n);
    std::vector<float> pieces(m * n);
    golden::accumulate({a.data(), k, 1}, {b.data(), n, 1}, m, n, k, whole.data());
    for (std::size_t s = 0; s < k;) {
      const std::size_t step = std::min<std::size_t>(1 + dice.below(100), k - s);
      golden::accumulate({a.data() + s, k, 1}, {b.data() + s * n, n, 1}, m, n, step, pieces.data());
      s += step;
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(pieces, whole, seed));
  }
}

TEST(Golden, LayerProductsReduceOverTheRightDimension) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    const DataMix mix{0.05, 0.0005};
    const std::size_t m = 1 + dice.below(50);
    const std::size_t k = 1 + dice.below(50);
    const std::size_t n = 1 + dice.below(50);
    const auto x = random_matrix(m * k, mix, dice);
    const auto w = random_matrix(k * n, mix, dice);
    const auto dy = random_matrix(m * n, mix, dice);
    const auto y = golden::forward(x.data(), w.data(), m, k, n);
    const auto dx = golden::input_gradient(dy.data(), w.data(), m, k, n);
    const auto dw = golden::weight_gradient(x.data(), dy.data(), m, k, n);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        float c = 0;
        for (std::size_t s = 0; s < k; ++s)
          c = mac(x[i * k + s], w[s * n + j], c);
        ASSERT_EQ(y[i * n + j], bf16_from_fp32(c)) << "Y, seed " << seed;
      }
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < k; ++j) {
        float c = 0;
        for (std::size_t s = 0; s < n; ++s)
          c = mac(dy[i * n + s], w[j * n + s], c);
        ASSERT_EQ(dx[i * k + j], bf16_from_fp32(c)) << "dX, seed " << seed;
      }
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        float c = 0;
        for (std::size_t s = 0; s < m; ++s)
          c = mac(x[s * k + i], dy[s * n + j], c);
        ASSERT_EQ(bits_of_fp32(dw[i * n + j]), bits_of_fp32(c)) << "dW, seed " << seed;
      }
  }
}

/// The plan of N14 in plain loops: a chain for each part, added in ascending order.
float planned_element(const std::uint16_t *a, const std::uint16_t *b, std::size_t k,
                      const std::vector<std::uint32_t> &cuts) {
  float sum = 0;
  float chain = 0;
  bool first = true;
  const auto end_part = [&] {
    sum = first ? chain : canonical(sum + chain);
    chain = 0;
    first = false;
  };
  for (std::size_t s = 0; s < k; ++s) {
    if (std::find(cuts.begin(), cuts.end(), s) != cuts.end()) end_part();
    chain = mac(a[s], b[s], chain);
  }
  end_part();
  return sum;
}

std::vector<std::uint32_t> random_cuts(std::size_t k, Dice &dice) {
  std::vector<std::uint32_t> cuts;
  const double density = dice.chance(0.3) ? 0.7 : 3.0 / static_cast<double>(k);
  for (std::uint32_t s = 1; s < k; ++s)
    if (dice.chance(density)) cuts.push_back(s);
  return cuts;
}

TEST(Golden, ProductsFollowTheirReductionPlan) {
  const DataMix mixes[] = {{}, {0.1, 0}, {0.05, 0.001}};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const std::size_t m = 1 + dice.below(20);
    const std::size_t n = 1 + dice.below(40);
    const std::size_t k = 1 + dice.below(seed % 7 == 0 ? 1200 : 60);
    const auto a = random_matrix(m * k, mixes[seed % 3], dice);
    const auto b_columns = random_matrix(k * n, mixes[seed % 3], dice); // column j from j * k on
    const std::vector<std::uint32_t> cuts = random_cuts(k, dice);
    const std::vector<float> c = golden::planned_product({a.data(), k, 1}, {b_columns.data(), 1, k}, m, n, k, cuts);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j)
        ASSERT_EQ(bits_of_fp32(c[i * n + j]), bits_of_fp32(planned_element(&a[i * k], &b_columns[j * k], k, cuts)))
            << "element " << i << ", " << j << " seed " << seed;
  }
}

TEST(Golden, LayerProductsTakeAPlan) {
  Dice dice(8);
  const std::size_t m = 9;
  const std::size_t k = 30;
  const std::size_t n = 20;
  const auto x = random_matrix(m * k, {}, dice);
  const auto w = random_matrix(k * n, {}, dice);
  const auto dy = random_matrix(m * n, {}, dice);
  const auto row = [](const std::vector<std::uint16_t> &v, std::size_t first, std::size_t step, std::size_t count) {
    std::vector<std::uint16_t> out;
    for (std::size_t s = 0; s < count; ++s)
      out.push_back(v[first + s * step]);
    return out;
  };
  const auto y = golden::forward(x.data(), w.data(), m, k, n, {{7, 11}});
  EXPECT_EQ(y[n + 3], bf16_from_fp32(planned_element(row(x, k, 1, k).data(), row(w, 3, n, k).data(), k, {7, 11})));
  const auto dx = golden::input_gradient(dy.data(), w.data(), m, k, n, {{5}});
  EXPECT_EQ(dx[k + 3], bf16_from_fp32(planned_element(row(dy, n, 1, n).data(), row(w, 3 * n, 1, n).data(), n, {5})));
  const auto dw = golden::weight_gradient(x.data(), dy.data(), m, k, n, {{1, 2, 8}});
  EXPECT_EQ(bits_of_fp32(dw[n + 3]),
            bits_of_fp32(planned_element(row(x, 1, k, m).data(), row(dy, 3, n, m).data(), m, {1, 2, 8})));
}

/// The checks above would see a wrong plan: other cuts, and one chain for all, differ.
TEST(Golden, ThePlanShows) {
  Dice dice(4);
  const auto a = random_matrix(8 * 50, {}, dice);
  const auto b = random_matrix(50 * 8, {}, dice);
  const auto of = [&](const std::vector<std::uint32_t> &cuts) {
    return bits(golden::planned_product({a.data(), 50, 1}, {b.data(), 8, 1}, 8, 8, 50, cuts));
  };
  EXPECT_NE(of({25}), of({}));
  EXPECT_NE(of({25}), of({24}));
  EXPECT_NE(of({10, 25}), of({25}));
  EXPECT_EQ(of({25}), of({25}));
}

TEST(Golden, PlansThatDoNotFitAreRefused) {
  const std::vector<std::uint16_t> a(10), b(10);
  for (const std::vector<std::uint32_t> &cuts : {std::vector<std::uint32_t>{0}, {10}, {11}, {4, 4}, {5, 4}})
    EXPECT_THROW(golden::planned_product({a.data(), 10, 1}, {b.data(), 1, 1}, 1, 1, 10, cuts), std::invalid_argument);
  EXPECT_NO_THROW(golden::planned_product({a.data(), 10, 1}, {b.data(), 1, 1}, 1, 1, 10, {{1, 9}}));
}

} // namespace
} // namespace gradweave
