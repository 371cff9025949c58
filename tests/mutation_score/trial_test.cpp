// Commands as tests: what is killed, what survives, what takes too long.
#include "tests/mutation_score/trial.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

namespace {

using namespace gradweave::mutation;

class Trial : public testing::Test {
protected:
  Verdict of(const std::string &script, unsigned number, Limits limits = {}) {
    return try_mutant({{"shell", {"/bin/sh", "-c", script}, {"*"}}}, number, {{"shell", limits}}, log_);
  }
  std::string log_ = gradweave::test::scratch_file("trial.log");
};

TEST_F(Trial, AMutantThatChangesNothingSurvives) { EXPECT_EQ(of("true", 7).outcome, Outcome::kPassed); }

TEST_F(Trial, AKnownFaultIsKilledAndTheReasonKept) {
  const std::string script = "if [ $GW_MUTANT = 7 ]; then echo fine; echo 'error: bits differ'; exit 3; fi";
  EXPECT_EQ(of(script, 6).outcome, Outcome::kPassed);
  const Verdict verdict = of(script, 7);
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.test, "shell");
  EXPECT_EQ(verdict.how, "exit code 3: error: bits differ");
}

TEST_F(Trial, ACrashIsAKill) {
  const Verdict verdict = of("kill -SEGV $$", 1);
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.how, "signal 11");
}

TEST_F(Trial, WaitingAndLoopingForEverAreTimeouts) {
  EXPECT_EQ(of("sleep 60", 1, {60, 0.2}).outcome, Outcome::kTimeout);
  EXPECT_EQ(of("while :; do :; done", 1, {1, 60}).outcome, Outcome::kTimeout);
}

TEST_F(Trial, AMissingCommandIsAnError) {
  EXPECT_THROW(try_mutant({{"gone", {"/nonexistent"}, {"*"}}}, 1, {{"gone", {}}}, log_), std::runtime_error);
}

TEST_F(Trial, VerdictsComeBackFromTheJournal) {
  const Verdict verdict = verdict_from_json(to_json({Outcome::kTimeout, "t", "exit \xff code", 1.5}));
  EXPECT_EQ(verdict.outcome, Outcome::kTimeout);
  EXPECT_EQ(verdict.test, "t");
  EXPECT_DOUBLE_EQ(verdict.cpu_seconds, 1.5);
}

TEST(Plan, TestsAreThoseWhosePatternFits) {
  const std::vector<PlannedTest> plan = {{"a", {"x"}, {"rtl/common/gw_fifo.sv"}}, {"b", {"x"}, {"rtl/*"}}};
  EXPECT_EQ(tests_of(plan, "rtl/common/gw_fifo.sv").size(), 2U);
  EXPECT_EQ(tests_of(plan, "rtl/spm/gw_spm.sv").size(), 1U);
  EXPECT_THROW(tests_of(plan, "isa/check.cpp"), std::runtime_error);
}

} // namespace
