// Estimates of runs, and how progress is told.
#include "base/process/progress.hpp"
#include "runtime/record/estimate.hpp"
#include "runtime/run/lookup.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

JobSpec job(const compiler::Layer &layer) {
  JobSpec spec;
  spec.network = "t";
  spec.layers = {layer};
  spec.npu = load_machine(find_npu("small"));
  return spec;
}

compiler::Layer layer(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  compiler::Layer l;
  l.name = "l";
  l.m = m;
  l.k = k;
  l.n = n;
  return l;
}

TEST(Estimate, IsNearTheCyclesOfTheCompiled) {
  for (const compiler::Layer &l : {layer(512, 312, 312), layer(512, 1200, 312), layer(64, 2048, 1000)}) {
    const JobSpec spec = job(l);
    const auto cycles = static_cast<double>(estimate({spec}, {1e6, "test"}).cycles());
    const auto exact = static_cast<double>(compile({spec.layer()}, spec.npu, spec.compile).predicted_cycles);
    EXPECT_GT(cycles, 0.6 * exact) << l.m << ' ' << l.k << ' ' << l.n;
    EXPECT_LT(cycles, 1.3 * exact) << l.m << ' ' << l.k << ' ' << l.n;
  }
}

TEST(Estimate, CountsACompilationForEachShape) {
  const Estimate e = estimate({job(layer(64, 64, 64)), job(layer(64, 64, 64)), job(layer(64, 64, 65))}, {1e6, "test"});
  EXPECT_GT(e.jobs[0].compile_seconds, 0);
  EXPECT_EQ(e.jobs[1].compile_seconds, 0);
  EXPECT_GT(e.jobs[2].compile_seconds, 0);
  EXPECT_EQ(e.jobs[0].run_seconds, e.jobs[1].run_seconds);
}

TEST(Estimate, IsNoShorterThanTheLongestJob) {
  Estimate e;
  e.jobs = {{0, 1, 9}, {0, 0, 1}, {0, 0, 1}};
  EXPECT_EQ(e.cpu_seconds(), 12);
  EXPECT_EQ(e.wall_seconds(1), 12);
  EXPECT_EQ(e.wall_seconds(2), 10);
}

TEST(Estimate, LargerArraysAreSlower) {
  const Machine small = load_machine(find_npu("small"));
  const Machine large = load_machine(find_npu("large"));
  EXPECT_GT(built_in_speed(small, Backend::kRtl).cycles_per_second,
            built_in_speed(large, Backend::kRtl).cycles_per_second);
  EXPECT_GT(built_in_speed(small, Backend::kTiming).cycles_per_second,
            built_in_speed(small, Backend::kRtl).cycles_per_second);
}

TEST(ProgressText, Durations) {
  EXPECT_EQ(duration(-1), "0 s");
  EXPECT_EQ(duration(59.4), "59 s");
  EXPECT_EQ(duration(60), "1 min 0 s");
  EXPECT_EQ(duration(5000), "1 h 23 min");
}

TEST(ProgressText, TellsWhatIsLeft) {
  EXPECT_EQ(describe({8, 3, 0.4, 20, 30}), "3 of 8 jobs done, 40 % of the work, 20 s, about 30 s more");
  EXPECT_EQ(describe({8, 8, 1, 20, {}}), "8 of 8 jobs done, 100 % of the work, 20 s");
}

TEST(ProgressDisplay, SkippedJobsAreNoWorkAndTheEstimateServesUntilSomethingIsDone) {
  ProgressDisplay display({1, 1, 2}, true);
  display.skip(0);
  display.expect(100);
  EXPECT_EQ(display.progress().finished, 1U);
  EXPECT_EQ(display.progress().fraction, 0);
  ASSERT_TRUE(display.progress().seconds_left);
  EXPECT_NEAR(*display.progress().seconds_left, 100, 10);
  display.update(2, 0.75);
  EXPECT_EQ(display.progress().fraction, 0.5);
  EXPECT_LT(*display.progress().seconds_left, 50) << "half the work took no time";
}

} // namespace
} // namespace gradweave::runtime
