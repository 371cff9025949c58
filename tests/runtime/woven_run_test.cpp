// Networks woven on one NPU: bits of the golden model and of each alone, cycles of the timing model.
#include "runtime/run/woven_run.hpp"
#include "tests/runtime/random_job_set.hpp"
#include "tests/support/cases.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

const char *const kNpus[] = {"test8", "test6x10", "test13x7", "test4x8", "test5x2"};

TEST(WovenRun, RandomJobSetsHaveGoldenBitsAndThoseOfEachJobAlone) {
  for (std::uint64_t seed = 1; seed <= test::cases(8); ++seed) {
    WovenRequest request = random_job_set(kNpus[seed % 5], seed);
    request.backend = Backend::kFunctional;
    const WovenRun run = run_woven(request);
    ASSERT_EQ(run.result.outcome, Outcome::kPass)
        << describe(request) << ": " << fmt::format("{}", fmt::join(run.result.failures, "; "));
    for (std::size_t job = 0; job < request.jobs.size(); ++job) {
      EXPECT_GT(run.jobs[job].elements, 0U) << describe(request);
      EXPECT_EQ(run.jobs[job].mismatches, 0U) << describe(request);
      EXPECT_EQ(differences_alone(request, run, job), "") << describe(request);
    }
  }
}

/// Sections of the vector unit among products: whichever the order, bits are the golden model's and those of each
/// alone.
TEST(WovenRun, DepthwiseLayersOfTheVectorUnitHaveGoldenBits) {
  const char *const npus[] = {"test8v2", "test6x10v1"};
  for (std::uint64_t seed = 1; seed <= test::cases(8); ++seed) {
    WovenRequest request = random_vector_job_set(npus[seed % 2], seed);
    request.backend = Backend::kFunctional;
    const WovenRun run = run_woven(request);
    ASSERT_EQ(run.result.outcome, Outcome::kPass)
        << describe(request) << ": " << fmt::format("{}", fmt::join(run.result.failures, "; "));
    for (std::size_t job = 0; job < request.jobs.size(); ++job)
      EXPECT_EQ(differences_alone(request, run, job), "") << describe(request);
    request.backend = Backend::kTiming;
    const WovenRun timed = run_woven(request);
    EXPECT_EQ(timed.result.cycles(), timed.cycles()) << describe(request);
    EXPECT_GE(timed.cycles(), timed.result.bounds.run_cycles) << describe(request);
  }
}

TEST(WovenRun, CyclesAreThoseOfTheTimingModelAndNoneBeatTheBound) {
  for (std::uint64_t seed = 101; seed <= 100 + test::cases(5); ++seed) {
    const WovenRequest request = random_job_set(kNpus[seed % 5], seed);
    const WovenRun run = run_woven(request);
    EXPECT_EQ(run.result.outcome, Outcome::kPass)
        << describe(request) << ": " << fmt::format("{}", fmt::join(run.result.failures, "; "));
    EXPECT_EQ(run.result.cycles(), run.cycles()) << describe(request);
    std::uint64_t last = 0;
    for (const WovenJob &job : run.jobs)
      last = std::max(last, job.finish_cycles);
    EXPECT_EQ(last, run.cycles()) << describe(request);
  }
}

/// Tiles begin with one by one, so that they are never slower than it in one stream.
TEST(WovenRun, TilesAreNoSlowerThanOneByOneInAStream) {
  for (std::uint64_t seed = 201; seed <= 200 + test::cases(3); ++seed) {
    WovenRequest request = random_job_set(kNpus[seed % 5], seed);
    request.weave.policy = compiler::WeavePolicy::kTiles;
    const WovenRun run = run_woven(request);
    EXPECT_LE(run.cycles(), run.one_by_one_cycles) << describe(request);
  }
}

TEST(WovenRun, IsTheSameAgain) {
  const WovenRequest request = random_job_set("test8", 7);
  WovenRequest in_threads = request;
  in_threads.threads = 3;
  EXPECT_EQ(run_woven(request).cycles(), run_woven(in_threads).cycles());
}

WovenRun of(std::uint64_t alone, std::uint64_t finish, std::uint64_t other_alone, std::uint64_t other_finish) {
  WovenRun run;
  run.jobs.resize(2);
  run.jobs[0].alone_cycles = alone;
  run.jobs[0].finish_cycles = finish;
  run.jobs[1].alone_cycles = other_alone;
  run.jobs[1].finish_cycles = other_finish;
  return run;
}

TEST(WovenRun, ServiceByHand) {
  const WovenRun run = of(100, 200, 60, 80); // half of its speed, three quarters
  EXPECT_DOUBLE_EQ(run.stp(), 1.25);
  EXPECT_DOUBLE_EQ(run.antt(), (2.0 + 4.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(run.fairness(), 0.5 / 0.75);
  EXPECT_EQ(run.alone_cycles(), 160U);
}

} // namespace
} // namespace gradweave::runtime
