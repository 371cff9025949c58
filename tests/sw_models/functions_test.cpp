// Clauses N18 and N19 on samples; functions_exhaustive_test.cpp has all inputs.
#include "base/key/fingerprint.hpp"
#include "base/random/dice.hpp"
#include "sw_models/functions/count.hpp"
#include "tests/sw_models/dropping.hpp"
#include "tests/sw_models/function_cases.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradweave::functions {
namespace {

constexpr std::uint32_t kMinusZero = 0x80000000U;
constexpr std::uint32_t kInfBits = 0x7F800000U;
constexpr std::uint32_t kMinusInfBits = 0xFF800000U;
constexpr std::uint32_t kOneBits = 0x3F800000U;

/// All powers of two, their neighbours and these negative: zeros, infinities, NaNs and the ends of subnormals among
/// them.
std::vector<std::uint32_t> corner_inputs() {
  std::vector<std::uint32_t> inputs = {0x7F800001U, 0x7FC00000U, 0x7FC12345U, 0x7FFFFFFFU};
  for (std::uint32_t exponent = 0; exponent <= 255; ++exponent)
    for (const std::uint32_t offset : {~0U, 0U, 1U, 2U, 0x400000U})
      inputs.push_back(((exponent << 23U) + offset) & 0x7FFFFFFFU);
  for (std::uint32_t subnormal = 1; subnormal < 0x800000U; subnormal *= 2)
    inputs.push_back(subnormal);
  const std::size_t positive = inputs.size();
  for (std::size_t i = 0; i < positive; ++i)
    inputs.push_back(inputs[i] | kMinusZero);
  return inputs;
}

/// Half of them any bits, half of exponents near 1, where functions bend.
std::vector<std::uint32_t> random_inputs(std::size_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<std::uint32_t> inputs(count);
  for (std::uint32_t &x : inputs) {
    x = static_cast<std::uint32_t>(dice.bits());
    if (dice.chance(0.5)) x = (x & 0x807FFFFFU) | dice.between(112, 134) << 23U;
  }
  return inputs;
}

struct Worst {
  double ulp = 0;
  std::uint32_t input = 0;
};

template <class Case, class P> Worst worst_of(const std::vector<std::uint32_t> &inputs, P make) {
  Worst worst;
  for (const std::uint32_t x : inputs) {
    auto p = make();
    const double ulp = error_in_ulp(Case::exact(fp32_from_bits(x)), Case::apply(p, x));
    if (ulp > worst.ulp) worst = {ulp, x};
  }
  return worst;
}

template <class Case> class N19 : public testing::Test {};
TYPED_TEST_SUITE(N19, Cases, CaseNames);

TYPED_TEST(N19, CornersAreWithinTheBound) {
  const Worst worst = worst_of<TypeParam>(corner_inputs(), [] { return Fp32(); });
  EXPECT_LE(worst.ulp, TypeParam::kBound) << TypeParam::kName << " of " << std::hex << worst.input;
}

TYPED_TEST(N19, SamplesAreWithinTheBound) {
  constexpr std::uint64_t kSeed = 19;
  const Worst worst = worst_of<TypeParam>(random_inputs(2'000'000, kSeed), [] { return Fp32(); });
  EXPECT_LE(worst.ulp, TypeParam::kBound)
      << TypeParam::kName << " of " << std::hex << worst.input << ", seed " << kSeed;
}

TYPED_TEST(N19, TakesTheOperationsOfTheTable) {
  Count count;
  EXPECT_FALSE(TypeParam::apply(count, Count::Value{}).modified) << "a result stands in a register";
  EXPECT_EQ(count.operations(), TypeParam::kOperations) << TypeParam::kName;
}

TYPED_TEST(N19, IsOddToTheBit) {
  if (!TypeParam::kOdd) GTEST_SKIP() << TypeParam::kName << " is not odd";
  for (const auto &inputs : {corner_inputs(), random_inputs(100'000, 20)})
    for (const std::uint32_t x : inputs) {
      Fp32 p;
      const std::uint32_t y = TypeParam::apply(p, x), mirrored = TypeParam::apply(p, x ^ kMinusZero);
      ASSERT_EQ(mirrored, is_nan_bits(y) ? y : y ^ kMinusZero) << TypeParam::kName << " of " << std::hex << x;
    }
}

/// A sequence without one of its operations is wrong somewhere among the inputs: no operation is there for nothing, and
/// these inputs see its loss.
TYPED_TEST(N19, NeedsEachOperation) {
  auto inputs = corner_inputs();
  const auto random = random_inputs(60'000, 21);
  inputs.insert(inputs.end(), random.begin(), random.end());
  for (unsigned dropped = 0; dropped < TypeParam::kOperations; ++dropped) {
    const Worst worst = worst_of<TypeParam>(inputs, [&] { return Dropping(dropped); });
    EXPECT_GT(worst.ulp, TypeParam::kBound) << TypeParam::kName << " without operation " << dropped;
  }
}

TYPED_TEST(N19, ArraysHaveTheSameBits) {
  auto inputs = corner_inputs();
  const auto random = random_inputs(300'000, 22);
  inputs.insert(inputs.end(), random.begin(), random.end());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{65}, inputs.size()}) {
    std::vector<std::uint32_t> values(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(count));
    values.push_back(0xDEADBEEFU); // is not touched
    auto *data = reinterpret_cast<float *>(values.data());
    TypeParam::batch(data, data, count); // in place
    for (std::size_t i = 0; i < count; ++i) {
      Fp32 p;
      ASSERT_EQ(values[i], TypeParam::apply(p, inputs[i])) << TypeParam::kName << " of " << std::hex << inputs[i];
    }
    EXPECT_EQ(values[count], 0xDEADBEEFU);
  }
}

/// The bits themselves, of a sample: what any other machine, compiler or hardware has to give. They change only with
/// the contract.
TYPED_TEST(N19, HasTheBitsOfTheContract) {
  auto values = random_inputs(1'000'000, 27);
  auto *data = reinterpret_cast<float *>(values.data());
  TypeParam::batch(data, data, values.size());
  EXPECT_EQ(Fingerprint().add(values).hex(), TypeParam::kBits) << TypeParam::kName;
}

TEST(N19Values, SpecialOnes) {
  Fp32 p;
  EXPECT_EQ(exp(p, 0U), kOneBits);
  EXPECT_EQ(exp(p, kMinusZero), kOneBits);
  EXPECT_EQ(exp(p, kMinusInfBits), 0U);
  EXPECT_EQ(exp(p, kInfBits), kInfBits);
  EXPECT_EQ(log(p, kOneBits), 0U);
  EXPECT_EQ(log(p, kMinusZero), kMinusInfBits);
  EXPECT_EQ(log(p, 0xBF800000U), kFp32Nan);
  EXPECT_EQ(rsqrt(p, kMinusZero), kMinusInfBits);
  EXPECT_EQ(sqrt(p, kMinusZero), kMinusZero);
  EXPECT_EQ(reciprocal(p, kMinusInfBits), kMinusZero);
  EXPECT_EQ(sigmoid(p, 0U), 0x3F000000U);
  EXPECT_EQ(sigmoid(p, kMinusInfBits), 0U);
  EXPECT_EQ(tanh(p, kMinusZero), kMinusZero);
  EXPECT_EQ(tanh(p, kMinusInfBits), 0xBF800000U);
  EXPECT_EQ(erf(p, kMinusZero), kMinusZero);
  EXPECT_EQ(sin(p, kMinusZero), kMinusZero);
  EXPECT_EQ(sin(p, 0x4A800001U), kFp32Nan); // beyond 2^22
  EXPECT_EQ(cos(p, kMinusZero), kOneBits);
  EXPECT_EQ(atan(p, kMinusInfBits), 0xBFC90FDBU);
  EXPECT_EQ(round(p, 0xBF000000U), 0U); // of -1/2 the even one of 0 and -1
}

// The cores: the same bits where their comments say, up to the ends of those ranges.

template <class Full, class Core>
void expect_same_bits(const char *name, std::uint32_t first, std::uint32_t last, Full full, Core core) {
  std::vector<std::uint32_t> inputs = {first, first + 1, last - 1, last};
  Dice dice(23);
  for (int i = 0; i < 300'000; ++i)
    inputs.push_back(dice.between(first, last));
  for (const std::uint32_t x : inputs) {
    Fp32 p;
    ASSERT_EQ(full(p, x), core(p, x)) << name << " of " << std::hex << x;
  }
}

using Lane = std::uint32_t;

TEST(N19Midrange, HasTheBitsOfTheFullFunctions) {
  const auto full_reciprocal = [](Fp32 &p, Lane x) { return reciprocal(p, x); };
  const auto core_reciprocal = [](Fp32 &p, Lane x) { return reciprocal_midrange(p, x); };
  expect_same_bits("reciprocal", bits::power(-126), bits::power(125) - 1, full_reciprocal, core_reciprocal);
  expect_same_bits("reciprocal", bits::power(-126) | kMinusZero, (bits::power(125) - 1) | kMinusZero, full_reciprocal,
                   core_reciprocal);
  expect_same_bits(
      "rsqrt", bits::power(-126), kInfBits - 1, [](Fp32 &p, Lane x) { return rsqrt(p, x); },
      [](Fp32 &p, Lane x) { return rsqrt_midrange(p, x); });
  expect_same_bits(
      "sqrt", bits::power(-102), kInfBits - 1, [](Fp32 &p, Lane x) { return sqrt(p, x); },
      [](Fp32 &p, Lane x) { return sqrt_midrange(p, x); });
  const auto full_exp = [](Fp32 &p, Lane x) { return exp(p, x); };
  const auto core_exp = [](Fp32 &p, Lane x) { return exp_midrange(p, x); };
  const auto exp_of_less = [](Fp32 &p, Lane x) { return exp_below(p, x); };
  expect_same_bits("exp", 0, 0x42300000U, full_exp, core_exp);          // 44
  expect_same_bits("exp", kMinusZero, 0xC3040000U, full_exp, core_exp); // -132
  expect_same_bits("exp", 0, 0x42300000U, full_exp, exp_of_less);
  expect_same_bits("exp", kMinusZero, kMinusInfBits, full_exp, exp_of_less);
  expect_same_bits(
      "log", bits::power(-126), kInfBits - 1, [](Fp32 &p, Lane x) { return log(p, x); },
      [](Fp32 &p, Lane x) { return log_midrange(p, x); });
}

TEST(N19Midrange, OfZeroAndNan) {
  Fp32 p;
  EXPECT_EQ(sqrt_midrange(p, 0U), 0U);
  EXPECT_EQ(sqrt_midrange(p, kMinusZero), kMinusZero);
  EXPECT_EQ(exp_midrange(p, kFp32Nan), kFp32Nan);
  EXPECT_EQ(exp_midrange(p, 0xFFC00001U), kFp32Nan);
  EXPECT_EQ(exp_below(p, kFp32Nan), kFp32Nan);
  EXPECT_EQ(divide_midrange(p, 0U, kOneBits), 0U);
  EXPECT_EQ(divide_midrange(p, kMinusZero, kOneBits), kMinusZero);
  EXPECT_EQ(divide_midrange(p, kFp32Nan, kOneBits), kFp32Nan);
  EXPECT_EQ(divide_midrange(p, kInfBits, kOneBits), kFp32Nan);
  EXPECT_EQ(divide_midrange(p, kOneBits, kFp32Nan), kFp32Nan);
  EXPECT_EQ(sqrt_midrange(p, kInfBits), kFp32Nan);
  EXPECT_EQ(sqrt_midrange(p, kFp32Nan), kFp32Nan);
}

/// As AdamW divides: by a root and at least 2^-26. The same bits where operators.md says so, else nearly.
TEST(N19Midrange, OfARootAndMore) {
  Fp32 p;
  Dice dice(24);
  const auto power_from = [&](std::uint32_t least, std::uint32_t most) {
    return dice.between(least + 127, most + 127) << 23U | dice.between(0, (1U << 23U) - 1) |
           (dice.chance(0.5) ? kMinusZero : 0);
  };
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t a = power_from(-100U, 100), v = dice.between(0, kInfBits - 1),
                        least = power_from(-26U, 0) & ~kMinusZero;
    const std::uint32_t exact = divide(p, a, p.add(sqrt(p, v), least));
    if ((exact & ~kMinusZero) < bits::power(-126) || (exact & ~kMinusZero) > bits::power(126)) continue;
    ASSERT_EQ(divide_midrange(p, a, p.add(sqrt_midrange(p, v), least)), exact)
        << std::hex << a << ", " << v << ", " << least;
    const std::uint32_t tiny = power_from(-126U, -101U), quotient = divide_midrange(p, tiny, least);
    const double ulp = error_in_ulp(double(fp32_from_bits(tiny)) / fp32_from_bits(least), quotient);
    ASSERT_LE(ulp, 2) << std::hex << tiny << " / " << least;
  }
}

TEST(N19Midrange, TakesTheOperationsOfTheTable) {
  const auto length = [](auto sequence) {
    Count count;
    sequence(count);
    return count.operations();
  };
  const Count::Value v;
  EXPECT_EQ(length([&](Count &p) { reciprocal_midrange(p, v); }), 7U);
  EXPECT_EQ(length([&](Count &p) { rsqrt_midrange(p, v); }), 13U);
  EXPECT_EQ(length([&](Count &p) { sqrt_midrange(p, v); }), 14U);
  EXPECT_EQ(length([&](Count &p) { exp_midrange(p, v); }), 13U);
  EXPECT_EQ(length([&](Count &p) { exp_below(p, v); }), 14U);
  EXPECT_EQ(length([&](Count &p) { log_midrange(p, v); }), 17U);
  EXPECT_EQ(length([&](Count &p) { divide_midrange(p, v, v); }), 10U);
  EXPECT_EQ(length([&](Count &p) { divide(p, v, v); }), 29U);
}

} // namespace
} // namespace gradweave::functions
