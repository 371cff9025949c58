// The multiply-add of the vector unit over all there is: every a b + c of three formats of eight bits. The RTL is that
// of fp32 with three numbers changed (gw_vector_fp_pkg); what is right follows from the list of all numbers of the
// format.
#include "Vsmall_fma_e3f4.h"
#include "Vsmall_fma_e4f3.h"
#include "Vsmall_fma_e5f2.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::vector {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kNumbers = 256;
__extension__ using Exact = __int128;

/// A format with `Exp` bits of exponent and `Frac` of fraction, as IEEE 754 has them; the sign is bit 31.
template <class ModelOf, unsigned Exp, unsigned Frac> struct Format {
  using Model = ModelOf;
  static std::string name() { return fmt::format("e{}f{}", Exp, Frac); }
  static constexpr std::uint32_t kInfinite = ((1U << Exp) - 1) << Frac;
  static constexpr std::uint32_t kQuietNan = kInfinite | 1U << (Frac - 1);
  static constexpr unsigned kLowest = (1U << (Exp - 1)) - 2 + Frac; ///< the lowest bit of all numbers weighs 2^-kLowest

  static std::uint32_t number(std::uint32_t i) { return (i % (kNumbers / 2)) | (i >= kNumbers / 2 ? kSign : 0U); }
  static bool nan(std::uint32_t x) { return (x & ~kSign) > kInfinite; }
  static bool infinite(std::uint32_t x) { return (x & ~kSign) == kInfinite; }
  static bool zero(std::uint32_t x) { return (x & ~kSign) == 0; }

  /// A finite magnitude in units of 2^-kLowest; of infinity what would be there if exponents went on.
  static Exact magnitude(std::uint32_t x) {
    const std::uint32_t exponent = x >> Frac, fraction = x & ((1U << Frac) - 1);
    return exponent == 0 ? Exact{fraction} : Exact{fraction | 1U << Frac} << (exponent - 1);
  }
  static Exact value(std::uint32_t x) { return (x & kSign) != 0 ? -magnitude(x & ~kSign) : magnitude(x); }

  /// Magnitudes from 0 to infinity, in units of 2^(-2 kLowest), the lowest bit of a product.
  static std::vector<Exact> all_magnitudes() {
    std::vector<Exact> all;
    for (std::uint32_t x = 0; x <= kInfinite; ++x)
      all.push_back(magnitude(x) << kLowest);
    return all;
  }

  /// The nearest number by comparison with both neighbours, of two equally near the one with an even last bit.
  static std::uint32_t nearest(Exact exact) {
    static const std::vector<Exact> all = all_magnitudes();
    const Exact size = exact < 0 ? -exact : exact;
    const auto above = std::upper_bound(all.begin(), all.end(), size);
    auto x = static_cast<std::uint32_t>(above - all.begin() - 1);
    if (x != kInfinite) {
      const Exact down = size - all[x], up = all[x + 1] - size;
      if (up < down || (up == down && x % 2 != 0)) ++x;
    }
    return x | (exact < 0 ? kSign : 0U);
  }

  /// a b + c by N18 of docs/numerics.md.
  static std::uint32_t fma(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t sign = (a ^ b) & kSign;
    if (nan(a) || nan(b) || nan(c)) return kQuietNan;
    if (infinite(a) || infinite(b)) {
      if (zero(a) || zero(b) || (infinite(c) && (c & kSign) != sign)) return kQuietNan;
      return kInfinite | sign;
    }
    if (infinite(c)) return c;
    const Exact exact = value(a) * value(b) + (value(c) << kLowest);
    return exact == 0 ? sign & c & kSign : nearest(exact);
  }
};

template <class F> class SmallFma : public testing::Test {};
using Formats =
    testing::Types<Format<Vsmall_fma_e3f4, 3, 4>, Format<Vsmall_fma_e4f3, 4, 3>, Format<Vsmall_fma_e5f2, 5, 2>>;
struct FormatNames {
  template <class F> static std::string GetName(int) { return F::name(); }
};
TYPED_TEST_SUITE(SmallFma, Formats, FormatNames);

TYPED_TEST(SmallFma, EqualsTheNearestNumberForAllOperands) {
  using F = TypeParam;
  const auto model = std::make_unique<typename F::Model>();
  std::uint64_t bad = 0;
  for (std::uint32_t i = 0; i < kNumbers * kNumbers; ++i) {
    model->a_i = F::number(i / kNumbers);
    model->b_i = F::number(i % kNumbers);
    model->clk_i = 0;
    model->eval();
    model->clk_i = 1;
    model->eval();
    for (std::uint32_t j = 0; j < kNumbers; ++j) {
      const std::uint32_t c = F::number(j), right = F::fma(model->a_i, model->b_i, c);
      if (model->fma_o[j] != right && ++bad <= 5)
        ADD_FAILURE() << fmt::format("{:#x} {:#x} + {:#x}: {:#x}, should be {:#x}", model->a_i, model->b_i, c,
                                     static_cast<std::uint32_t>(model->fma_o[j]), right);
    }
  }
  EXPECT_EQ(bad, 0U);
}

} // namespace
} // namespace gradweave::vector
