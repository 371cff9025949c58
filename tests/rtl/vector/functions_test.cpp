// The functions of the contract on the vector unit's RTL: their programs give golden's bits.
#include "tests/rtl/vector/unit_bench.hpp"
#include "tests/sw_models/vector/program_run.hpp"

#include <fmt/format.h>

namespace gradweave::vector {
namespace {

template <class S> class VectorUnitFunctions : public testing::Test {};
TYPED_TEST_SUITE(VectorUnitFunctions, Shapes, ShapeNames);

TYPED_TEST(VectorUnitFunctions, EqualGolden) {
  constexpr std::uint64_t kInputsSeed = 27;
  Dice dice(kInputsSeed);
  const Elements t0 = mixed_inputs(20'000, dice), t1 = mixed_inputs(20'000, dice);
  UnitBench<TypeParam> bench;
  for (const FunctionProgram &f : function_programs()) {
    const Elements got = run_elements(bench, isa::vector::encode(f.program()), {&t0, &t1});
    std::size_t at = 0;
    EXPECT_EQ(differences(f.name, got, t0, t1, at), 0U) << fmt::format(
        "{}, seed {}: of 0x{:08X}, 0x{:08X} it gives 0x{:08X}", f.name, kInputsSeed, t0[at], t1[at], got[at]);
  }
}

} // namespace
} // namespace gradweave::vector
