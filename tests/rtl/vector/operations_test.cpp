// Each operation of the lanes by clause N18, on corners and on operands that break adders.
#include "tests/rtl/vector/operation_inputs.hpp"
#include "tests/rtl/vector/unit_bench.hpp"

#include <fmt/format.h>

namespace gradweave::vector {
namespace {

template <class S> class VectorUnitOperations : public testing::Test {
protected:
  /// Everything that `op` gives on the triples, against `expected`.
  template <typename F> void check(const std::string &op, const Triples &in, F expected, unsigned by = 0) {
    const std::vector<std::uint32_t> got = run_elements(bench_, operation_words(op, by), {&in.a, &in.b, &in.c});
    std::size_t bad = 0;
    for (std::size_t i = 0; i < got.size() && bad < 5; ++i)
      if (const std::uint32_t right = expected(in.a[i], in.b[i], in.c[i]); got[i] != right) {
        ++bad;
        ADD_FAILURE() << fmt::format("{} 0x{:08X} 0x{:08X} 0x{:08X}: 0x{:08X}, should be 0x{:08X}", op, in.a[i],
                                     in.b[i], in.c[i], got[i], right);
      }
  }

  void check_all(const Triples &in) {
    using F = functions::Fp32;
    using W = std::uint32_t;
    check("fma", in, [](W a, W b, W c) { return F::fma(a, b, c); });
    check("add", in, [](W a, W b, W) { return F::add(a, b); });
    check("mul", in, [](W a, W b, W) { return F::mul(a, b); });
    check("min", in, [](W a, W b, W) { return F::min(a, b); });
    check("max", in, [](W a, W b, W) { return F::max(a, b); });
    check("lt", in, [](W a, W b, W) { return F::lt(a, b); });
    check("le", in, [](W a, W b, W) { return F::le(a, b); });
    check("eq", in, [](W a, W b, W) { return F::eq(a, b); });
    check("select", in, [](W a, W b, W c) { return F::select(a, b, c); });
    check("iadd", in, [](W a, W b, W) { return F::iadd(a, b); });
    check("isub", in, [](W a, W b, W) { return F::isub(a, b); });
    check("and", in, [](W a, W b, W) { return F::band(a, b); });
    check("or", in, [](W a, W b, W) { return F::bor(a, b); });
    check("xor", in, [](W a, W b, W) { return F::bxor(a, b); });
    check("to_bf16", in, [](W a, W, W) { return F::to_bf16(a); });
    for (const unsigned by : {0U, 1U, 13U, 31U}) {
      check(
          "shl", in, [by](W a, W, W) { return F::shl(a, by); }, by);
      check(
          "shr", in, [by](W a, W, W) { return F::shr(a, by); }, by);
      check(
          "sra", in, [by](W a, W, W) { return F::sra(a, by); }, by);
    }
  }

  UnitBench<S> bench_;
};
TYPED_TEST_SUITE(VectorUnitOperations, Shapes, ShapeNames);

TYPED_TEST(VectorUnitOperations, EqualTheContractsOnAllCornerTriples) { this->check_all(corner_triples()); }

TYPED_TEST(VectorUnitOperations, EqualTheContractsOnDirectedOperands) {
  constexpr std::uint64_t kOperandsSeed = 18;
  Dice dice(kOperandsSeed);
  this->check_all(directed_triples(50'000, dice));
}

TYPED_TEST(VectorUnitOperations, MultiplyAddEqualsTheContractAtTheBordersOfNormalising) {
  constexpr std::uint64_t kSumsSeed = 27;
  Dice dice(kSumsSeed);
  this->check("fma", normalising_triples(2'000, dice),
              [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return functions::Fp32::fma(a, b, c); });
}

} // namespace
} // namespace gradweave::vector
