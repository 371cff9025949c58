// Normalisations by strips of columns on the RTL: every bit of golden execution, and all cycles and counters of the
// timing model.
#include "tests/compiler/strips/strip_run.hpp"
#include "tests/cosim/section_on_rtl.hpp"

namespace gradweave::compiler {
namespace {

class StripsOnRtl : public testing::TestWithParam<const char *> {};

TEST_P(StripsOnRtl, AnyCut) {
  const Machine npu = vector_machine(GetParam());
  std::size_t compared = 0;
  for (std::uint64_t seed = 1001; seed <= 1024; ++seed) {
    Dice dice(seed);
    const std::uint32_t rows = random_rows(dice);
    Normalisation n(npu, Normalisation::kKinds[seed % 3], rows, dice.between(2, 2 * npu.lanes()));
    const std::vector<isa::Command> stream = n.commands(random_cut(dice, npu, rows));
    if (stream.empty()) continue;
    ++compared;
    SCOPED_TRACE(seed);
    ASSERT_NO_FATAL_FAILURE(n.check(stream, run_rtl));
  }
  EXPECT_GT(compared, 6U);
}

INSTANTIATE_TEST_SUITE_P(Npus, StripsOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
