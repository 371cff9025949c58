// Programs of the functions of N19 and N20 on ten million inputs each.
#include "tests/sw_models/vector/program_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace gradweave::vector {
namespace {

TEST(FunctionProgramsLong, EqualTheFunctionsOnTenMillionInputs) {
  const char *asked = std::getenv("GW_SEED");
  const std::uint64_t seed = asked != nullptr ? std::strtoull(asked, nullptr, 0) : 27;
  fmt::print("seed {} (GW_SEED)\n", seed);
  Dice dice(seed);
  for (const FunctionProgram &f : function_programs()) {
    const Elements t0 = mixed_inputs(10'000'000, dice), t1 = mixed_inputs(10'000'000, dice);
    const Elements got = run_program(f.program(), t0, t1);
    std::size_t at = 0;
    EXPECT_EQ(differences(f.name, got, t0, t1, at), 0U)
        << fmt::format("{}: of 0x{:08X}, 0x{:08X} it gives 0x{:08X}", f.name, t0[at], t1[at], got[at]);
    fmt::print("{}: {} inputs\n", f.name, got.size());
  }
}

} // namespace
} // namespace gradweave::vector
