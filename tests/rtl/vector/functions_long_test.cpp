// The functions of the contract on the vector unit's RTL, ten million inputs each; a million on each other shape.
#include "tests/rtl/vector/operation_inputs.hpp"
#include "tests/rtl/vector/unit_bench.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include "Vvector_unit_45x4.h"

#include <fmt/format.h>

#include <cstdlib>

namespace gradweave::vector {
namespace {

std::uint64_t seed() {
  const char *asked = std::getenv("GW_SEED");
  return asked != nullptr ? std::strtoull(asked, nullptr, 0) : 27;
}

using Wide = Shape<Vvector_unit_45x4, 45, 4>;

/// In parts, as steps are counted in 16 bits.
template <class S> void check_functions(std::size_t inputs, std::size_t part) {
  fmt::print("seed {} (GW_SEED)\n", seed());
  Dice dice(seed());
  UnitBench<S> bench;
  for (const FunctionProgram &f : function_programs()) {
    std::size_t checked = 0;
    while (checked < inputs) {
      const Elements t0 = mixed_inputs(part, dice), t1 = mixed_inputs(part, dice);
      const Elements got = run_elements(bench, isa::vector::encode(f.program()), {&t0, &t1});
      std::size_t at = 0;
      ASSERT_EQ(differences(f.name, got, t0, t1, at), 0U)
          << fmt::format("{}: of 0x{:08X}, 0x{:08X} it gives 0x{:08X}", f.name, t0[at], t1[at], got[at]);
      checked += got.size();
    }
    fmt::print("{}: {} inputs\n", f.name, checked);
  }
}

TEST(VectorUnitLong, FunctionsEqualGoldenOnTenMillionInputs) { check_functions<Wide>(10'000'000, 2'000'000); }

template <class S> class VectorUnitLongShapes : public testing::Test {};
TYPED_TEST_SUITE(VectorUnitLongShapes, Shapes, ShapeNames);

TYPED_TEST(VectorUnitLongShapes, FunctionsEqualGoldenOnAMillionInputs) {
  check_functions<TypeParam>(1'000'000, 250'000);
}

TEST(VectorUnitLong, MultiplyAddEqualsNativeOnAHundredMillionOperands) {
  Dice dice(seed());
  UnitBench<Wide> bench;
  for (int part = 0; part < 50; ++part) {
    const Triples in = directed_triples(2'000'000, dice);
    const Elements got = run_elements(bench, operation_words("fma"), {&in.a, &in.b, &in.c});
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], functions::Fp32::fma(in.a[i], in.b[i], in.c[i]))
          << fmt::format("0x{:08X} 0x{:08X} 0x{:08X}", in.a[i], in.b[i], in.c[i]);
  }
}

} // namespace
} // namespace gradweave::vector
