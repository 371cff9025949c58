// What verify takes a product to read and write is derived apart from lowering, and agrees with it.
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/verify/operands/operands.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gradweave::compiler {
namespace {

constexpr unsigned kSeed = 11;

TEST(VerifyOperands, AgreeWithLowering) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 random(kSeed);
  const auto draw = [&](std::uint32_t first, std::uint32_t last) {
    return std::uniform_int_distribution<std::uint32_t>(first, last)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    Layer layer;
    layer.m = draw(1, 99);
    layer.k = draw(1, 99);
    layer.n = draw(1, 99);
    layer.groups = draw(1, 5);
    TileProduct p;
    p.result = std::array<Tensor, 3>{Tensor::kY, Tensor::kDX, Tensor::kDW}[draw(0, 2)];
    p.m = draw(0, layer.m - 1);
    p.k = draw(0, layer.k - 1);
    p.n = draw(0, layer.n - 1);
    p.m_size = draw(1, layer.m - p.m);
    p.k_size = draw(1, layer.k - p.k);
    p.n_size = draw(1, layer.n - p.n);
    p.group = draw(0, layer.groups - 1);
    const GemmRoles lowered = roles(p, layer);
    const Operands derived = operands_of(p, layer);
    EXPECT_EQ(derived.a, lowered.a);
    EXPECT_EQ(derived.b, lowered.b);
    EXPECT_EQ(derived.a_rect, lowered.a_rect);
    EXPECT_EQ(derived.b_rect, lowered.b_rect);
    EXPECT_EQ(derived.result, lowered.c_rect);
    EXPECT_EQ(derived.first, lowered.red);
    EXPECT_EQ(derived.terms, lowered.red_size);
    EXPECT_EQ(terms_of(p, layer), reduction_extent(p, layer));
    const std::uint32_t lanes = draw(1, 64);
    for (const bool fp32 : {false, true})
      EXPECT_EQ(rows_of_tile(derived.a_rect, fp32, lanes),
                spm_rows(derived.a_rect.rows, derived.a_rect.cols, fp32, lanes));
  }
}

} // namespace
} // namespace gradweave::compiler
