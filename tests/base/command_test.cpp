// Other programs, run and read to their ends.
#include "base/process/command.hpp"

#include <gtest/gtest.h>

#include <csignal>

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

TEST(RunVisibly, PrintsToStandardErrorAndGivesTheCode) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_visibly({"sh", "-c", "echo out; echo err >&2; exit 3"}), 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "out\nerr\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(RunVisibly, LetsSignalsThroughThatThisProcessHoldsBack) {
  sigset_t term, before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term, &before);
  EXPECT_EQ(run_visibly({"sh", "-c", "kill -TERM $$; exit 0"}), 128 + 15);
  EXPECT_EQ(run_command({"sh", "-c", "kill -TERM $$; exit 0"}).code, 0);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

} // namespace
} // namespace gradweave::test
