// Other programs, run and read to their ends.
#include "base/process/command.hpp"

#include <gtest/gtest.h>

namespace gradweave::test {
namespace {

TEST(RunCommand, GivesBothOutputsAndTheCode) {
  const CommandEnd end = run_command({"sh", "-c", "cat; echo out; echo err >&2; exit 3"}); // without input
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "out\n");
  EXPECT_EQ(end.errors, "err\n");
}

TEST(RunCommand, ReadsMoreThanAPipeHolds) {
  const CommandEnd end = run_command({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero"});
  EXPECT_EQ(end.output.size(), 200000U);
  EXPECT_EQ(end.errors.size(), 300000U);
}

TEST(RunCommand, TellsWhatIsNotThereAndWhatWasKilled) {
  EXPECT_EQ(run_command({"no-such-program-of-any-kind"}).code, 127);
  EXPECT_EQ(run_command({"sh", "-c", "kill -TERM $$"}).code, 128 + 15);
}

} // namespace
} // namespace gradweave::test
