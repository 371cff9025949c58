// Plans searched in threads: the same streams with any number of them.
#include "compiler/ahead/plans_ahead.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace gradweave::compiler {
namespace {

std::vector<PlansAhead::Compilation> compilations() {
  const Machine npu = load_machine("configs/test8.toml");
  std::vector<PlansAhead::Compilation> all;
  for (const auto &[m, k, n] :
       {std::array{40U, 30U, 20U}, std::array{7U, 65U, 33U}, std::array{40U, 30U, 20U}, std::array{90U, 16U, 24U}})
    for (const Schedule schedule :
         {Schedule::kRearrange, Schedule::kIdeal, Schedule("flexer"), Schedule("loop_order"), Schedule("list")}) {
      CompileOptions options;
      options.schedule = schedule;
      options.pass = Pass::kBoth;
      options.plans = 20;
      all.push_back({{Layer{"layer " + std::to_string(all.size()), m, k, n, true, 0}}, npu, options});
    }
  return all;
}

std::vector<std::vector<isa::Command>> streams(unsigned threads) {
  const std::vector<PlansAhead::Compilation> all = compilations();
  CompileCache cache;
  PlansAhead ahead(all, cache, threads);
  std::vector<std::vector<isa::Command>> result;
  for (const PlansAhead::Compilation &c : all)
    result.push_back(compile(c.layers, c.npu, c.options, cache).stream);
  return result;
}

TEST(PlansAhead, StreamsAreTheSameWithAnyNumberOfThreads) {
  const auto alone = streams(0);
  for (const unsigned threads : {1U, 2U, 7U})
    EXPECT_EQ(streams(threads), alone) << threads;
}

TEST(PlansAhead, FindsAllPlansBeforeAnyoneCompiles) {
  const std::vector<PlansAhead::Compilation> all = compilations();
  CompileCache cache;
  PlansAhead ahead(all, cache, 3);
  while (!ahead.wait(std::chrono::seconds(1))) {
  }
  for (PlansAhead::Compilation c : all) {
    c.options.progress = [](std::uint64_t, std::uint64_t) { FAIL() << "a search"; };
    compile(c.layers, c.npu, c.options, cache);
  }
}

TEST(PlansAhead, WhatCannotBePlannedIsReportedToWhoeverCompilesIt) {
  std::vector<PlansAhead::Compilation> all = compilations();
  all.front().npu.memory.size_bytes = 1;
  CompileCache cache;
  PlansAhead ahead(all, cache, 2);
  EXPECT_THROW(compile(all.front().layers, all.front().npu, all.front().options, cache), CompileError);
  EXPECT_FALSE(compile(all.back().layers, all.back().npu, all.back().options, cache).stream.empty());
}

TEST(PlansAhead, SearchesTheLongestFirstAndEqualShapesOnce) {
  std::vector<PlansAhead::Compilation> all = compilations();
  std::vector<std::uint32_t> searched; // rows of the layers; one thread
  for (PlansAhead::Compilation &c : all) {
    c.options.schedule = Schedule::kRearrange;
    c.options.progress = [&searched, m = c.layers.front().m](std::uint64_t, std::uint64_t) {
      if (searched.empty() || searched.back() != m) searched.push_back(m);
    };
  }
  CompileCache cache;
  PlansAhead ahead(all, cache, 1);
  while (!ahead.wait(std::chrono::seconds(1))) {
  }
  EXPECT_EQ(searched, (std::vector<std::uint32_t>{90, 7, 40})); // move at least 7,968, 5,662 and 5,200 bytes
}

TEST(PlansAhead, EndsWhenNobodyWaits) {
  std::vector<PlansAhead::Compilation> all = compilations();
  for (PlansAhead::Compilation &c : all)
    c.options.plans = 1'000'000'000; // would never end
  CompileCache cache;
  const PlansAhead ahead(all, cache, 2);
}

} // namespace
} // namespace gradweave::compiler
