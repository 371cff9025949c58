// Clause N19 on all 2^32 inputs of each function, against double precision. Both ends of a run are inputs in the order
// of reals, so that what rises or falls is seen as well.
#include "tests/sw_models/dropping.hpp"
#include "tests/sw_models/function_cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace gradweave::functions {
namespace {

constexpr std::uint64_t kSigned = std::uint64_t{1} << 31U; ///< inputs of one sign
constexpr std::size_t kRun = 4096;

struct Found {
  double ulp = 0.5; ///< what is rounded correctly is not looked at further
  std::uint32_t input = 0;
  std::uint64_t misrounded = 0;
  std::uint64_t descents =
      0; ///< neighbours x < y, both of one sign, where the function rises and f(x) > f(y), or the other way about
  std::uint64_t uneven = 0; ///< f(-x) is not -f(x), for odd functions
};

Found operator+(const Found &a, const Found &b) {
  const Found &worse = a.ulp >= b.ulp ? a : b;
  return {worse.ulp, worse.input, a.misrounded + b.misrounded, a.descents + b.descents, a.uneven + b.uneven};
}

struct Run {
  std::array<float, kRun> in, out;
};

template <class Batch> void evaluate(std::uint32_t first, Run &run, Batch batch) {
  for (std::size_t i = 0; i < kRun; ++i)
    run.in[i] = fp32_from_bits(first + static_cast<std::uint32_t>(i));
  batch(run.in.data(), run.out.data(), kRun);
}

template <class Case> void look_at(std::uint32_t first, const Run &run, Found &found) {
  for (std::size_t i = 0; i < kRun; ++i) {
    const std::uint32_t x = first + static_cast<std::uint32_t>(i);
    const double exact = Case::exact(run.in[i]);
    const std::uint32_t got = bits_of_fp32(run.out[i]);
    if (got == bits_of_fp32(canonical(static_cast<float>(exact)))) continue; // within half a unit
    ++found.misrounded;
    const double ulp = error_in_ulp(exact, got);
    if (ulp <= found.ulp) continue;
    found.ulp = ulp;
    found.input = x;
  }
}

/// x to run.in's end, all of one sign: |x| ascends, so f must go one way.
template <class Case> void count_descents(const Run &run, Found &found) {
  if (kTurns<Case>) return;
  for (std::size_t i = 1; i < kRun; ++i) {
    const bool grows = (run.in[i] > run.in[i - 1]) == Case::kRising;
    found.descents +=
        (grows ? run.out[i] < run.out[i - 1] : run.out[i] > run.out[i - 1]) && run.in[i] != run.in[i - 1] ? 1 : 0;
  }
}

/// Inputs [begin, end) of each sign.
template <class Case, class Batch> Found examine(std::uint64_t begin, std::uint64_t end, Batch batch) {
  Found found;
  Run positive, negative;
  for (std::uint64_t first = begin; first < end; first += kRun) {
    const auto x = static_cast<std::uint32_t>(first);
    evaluate(x, positive, batch);
    evaluate(x | 0x80000000U, negative, batch);
    look_at<Case>(x, positive, found);
    count_descents<Case>(positive, found);
    count_descents<Case>(negative, found);
    if (!Case::kOdd) {
      look_at<Case>(x | 0x80000000U, negative, found);
      continue;
    }
    for (std::size_t i = 0; i < kRun; ++i) // what is odd to the bit has the errors of the other sign
      found.uneven += bits_of_fp32(negative.out[i]) != bits_of_fp32(canonical(-positive.out[i])) ? 1 : 0;
  }
  return found;
}

template <class Case, class Batch> Found examine_all(Batch batch) {
  const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  constexpr std::uint64_t kPieces = 512; // dear inputs lie together
  std::vector<Found> found(workers);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      for (std::uint64_t piece = w; piece < kPieces; piece += workers)
        found[w] = found[w] + examine<Case>(piece * (kSigned / kPieces), (piece + 1) * (kSigned / kPieces), batch);
    });
  for (std::thread &thread : threads)
    thread.join();
  Found all;
  for (const Found &part : found)
    all = all + part;
  return all;
}

template <class Case> class N19AllInputs : public testing::Test {};
TYPED_TEST_SUITE(N19AllInputs, Cases, CaseNames);

TYPED_TEST(N19AllInputs, AreWithinTheBound) {
  const Found found =
      examine_all<TypeParam>([](const float *in, float *out, std::size_t n) { TypeParam::batch(in, out, n); });
  fmt::print("{}: at most {:.4f} ulp, at 0x{:08X}; {} not rounded correctly, {} steps the wrong way\n",
             TypeParam::kName, found.ulp, found.input, found.misrounded, found.descents);
  EXPECT_LE(found.ulp, TypeParam::kBound) << std::hex << found.input;
  EXPECT_EQ(found.uneven, 0U);
  EXPECT_EQ(found.descents, TypeParam::kDescents);
  if (TypeParam::kBound == 0.5) {
    EXPECT_EQ(found.misrounded, 0U);
  }
}

/// The same look at a function that lacks an operation is not content.
TYPED_TEST(N19AllInputs, SeesAFault) {
  const auto broken = [](const float *in, float *out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      Dropping p(TypeParam::kOperations / 2);
      out[i] = fp32_from_bits(TypeParam::apply(p, bits_of_fp32(in[i])));
    }
  };
  EXPECT_GT(examine<TypeParam>(0x3E000000U, 0x40000000U, broken).ulp, TypeParam::kBound);
}

} // namespace
} // namespace gradweave::functions
