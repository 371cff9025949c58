// The functions of the contract on the vector unit's RTL, ten million inputs each.
#include "tests/rtl/vector/operation_inputs.hpp"
#include "tests/rtl/vector/unit_bench.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace gradweave::vector {
namespace {

std::uint64_t seed() {
  const char *asked = std::getenv("GW_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 0) : 27;
}

template <class S> class VectorUnitLong : public testing::Test {};
TYPED_TEST_SUITE(VectorUnitLong, Shapes, ShapeNames);

/// In parts, as steps are counted in 16 bits.
TYPED_TEST(VectorUnitLong, FunctionsEqualGoldenOnTenMillionInputs) {
  fmt::print("seed {} (GW_SEED)\n", seed());
  Dice dice(seed());
  UnitBench<TypeParam> bench;
  for (const FunctionProgram &f : function_programs()) {
    std::size_t checked = 0;
    while (checked < 10'000'000) {
      const Elements t0 = mixed_inputs(500'000, dice), t1 = mixed_inputs(500'000, dice);
      const Elements got = run_elements(bench, isa::vector::encode(f.program()), {&t0, &t1});
      std::size_t at = 0;
      ASSERT_EQ(differences(f.name, got, t0, t1, at), 0U)
          << fmt::format("{}: of 0x{:08X}, 0x{:08X} it gives 0x{:08X}", f.name, t0[at], t1[at], got[at]);
      checked += got.size();
    }
    fmt::print("{}: {} inputs\n", f.name, checked);
  }
}

TYPED_TEST(VectorUnitLong, MultiplyAddEqualsNativeOnAHundredMillionOperands) {
  Dice dice(seed());
  UnitBench<TypeParam> bench;
  for (int part = 0; part < 250; ++part) {
    const Triples in = directed_triples(400'000, dice);
    const Elements got = run_elements(bench, operation_words("fma"), {&in.a, &in.b, &in.c});
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], functions::Fp32::fma(in.a[i], in.b[i], in.c[i]))
          << fmt::format("0x{:08X} 0x{:08X} 0x{:08X}", in.a[i], in.b[i], in.c[i]);
  }
}

} // namespace
} // namespace gradweave::vector
