// The comparator on doctored times: whatever is off by one is seen, counted, and found to be the first.
#include "tests/validate/doctored.hpp"

#include "app/validate/corpus/profile.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <gtest/gtest.h>

namespace gradweave::test {
namespace {

using runtime::compare_runs;
using runtime::Event;
using runtime::TimedRun;
using runtime::TimingComparison;

std::uint64_t &time_in(TimedRun &run, std::size_t command, Event event) {
  timing::CommandTimes &t = run.times.at(command);
  return event == Event::kIssue ? t.issue : event == Event::kStart ? t.start : t.done;
}

TEST(CompareRuns, EqualRunsAreEqual) {
  const TimingComparison c = compare_runs(small_run(), small_run());
  EXPECT_TRUE(c.equal());
  EXPECT_EQ(c.commands, 4U);
  EXPECT_EQ(c.counters, isa::kCounters.size());
  EXPECT_FALSE(c.first);
  EXPECT_EQ(explain_small(small_run(), small_run()), "");
}

TEST(CompareRuns, EveryEventOfEveryCommandCounts) {
  for (std::size_t command = 0; command < 4; ++command)
    for (const Event event : runtime::kEvents)
      for (const int off : {-1, 1}) {
        TimedRun model = small_run();
        const std::uint64_t right = time_in(model, command, event);
        time_in(model, command, event) = right + static_cast<std::uint64_t>(off);
        const TimingComparison c = compare_runs(small_run(), model);
        EXPECT_FALSE(c.equal());
        EXPECT_EQ(c.commands_differ, 1U);
        EXPECT_EQ(c.counters_differ, 0U);
        ASSERT_TRUE(c.first);
        EXPECT_EQ(c.first->command, command);
        EXPECT_EQ(c.first->event, event);
        EXPECT_EQ(c.first->rtl, right);
        EXPECT_EQ(c.first->model, right + static_cast<std::uint64_t>(off));
      }
}

TEST(CompareRuns, AnEventThatIsMissingOnEitherSideCounts) {
  TimedRun without = small_run();
  without.times[3].done = timing::kNever;
  for (const TimingComparison &c : {compare_runs(without, small_run()), compare_runs(small_run(), without)}) {
    EXPECT_EQ(c.commands_differ, 1U);
    ASSERT_TRUE(c.first);
    EXPECT_EQ(c.first->cycle(), 200U);
  }
}

TEST(CompareRuns, MissingCommandsCount) {
  TimedRun shorter = small_run();
  shorter.times.pop_back();
  const TimingComparison c = compare_runs(small_run(), shorter);
  EXPECT_EQ(c.commands, 4U);
  EXPECT_EQ(c.commands_differ, 1U);
}

TEST(CompareRuns, EveryCounterCounts) {
  for (std::size_t i = 0; i < isa::kCounters.size(); ++i) {
    TimedRun model = small_run();
    ++model.counters.values[i];
    const TimingComparison c = compare_runs(small_run(), model);
    EXPECT_FALSE(c.equal());
    EXPECT_EQ(c.commands_differ, 0U);
    EXPECT_EQ(c.counters_differ, 1U);
  }
}

TEST(CompareRuns, ErrorCodeAndIndexCount) {
  TimedRun rtl = small_run();
  rtl.status = {isa::ErrorCode::WATCHDOG, 2};
  TimedRun model = rtl;
  EXPECT_TRUE(compare_runs(rtl, model).equal());
  model.status.error_index = 3;
  EXPECT_TRUE(compare_runs(rtl, model).end_differs);
  model.status = {isa::ErrorCode::SPM_RANGE, 2};
  EXPECT_TRUE(compare_runs(rtl, model).end_differs);
  model.status = {};
  EXPECT_TRUE(compare_runs(rtl, model).end_differs);
}

/// The earliest difference in time, on whichever side, not that of the lowest index; a completion before a start before
/// an issue of the same cycle.
TEST(CompareRuns, TheFirstDifferenceIsTheFirstInTime) {
  TimedRun model = small_run();
  model.times[0].done = 130;  // the RTL: 100
  model.times[2].start = 122; // the RTL: 121
  model.times[3].issue = 99;  // the RTL: 16
  TimingComparison c = compare_runs(small_run(), model);
  EXPECT_EQ(c.commands_differ, 3U);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->command, 3U);
  EXPECT_EQ(c.first->cycle(), 16U);

  model = small_run();
  TimedRun rtl = small_run();
  for (TimedRun *run : {&rtl, &model})
    run->times = {{5, 50, 90}, {20, 50, 90}, {50, 60, 90}, {50, 60, 90}};
  model.times[0].start = 51;
  model.times[2].issue = 51;
  model.times[3].done = 91;
  rtl.times[3].done = 50;
  c = compare_runs(rtl, model);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->command, 3U);
  EXPECT_EQ(c.first->event, Event::kDone);
  rtl.times[3].done = 91;
  c = compare_runs(rtl, model);
  ASSERT_TRUE(c.first);
  EXPECT_EQ(c.first->command, 0U);
  EXPECT_EQ(c.first->event, Event::kStart);
}

TEST(CompareRuns, WhatTheHostOfARingSawCounts) {
  TimedRun rtl = small_run();
  rtl.marks = {{7, 100}, {8, 150}};
  rtl.host = {8, 20, 112, 162};
  EXPECT_TRUE(compare_runs(rtl, rtl).equal());
  EXPECT_EQ(compare_runs(rtl, rtl).marks, 2U);
  TimedRun late = rtl, other = rtl, fewer = rtl, away = rtl;
  ++late.marks[1].cycle;
  ++other.marks[0].tag;
  fewer.marks.pop_back();
  away.host.back() = 163;
  for (const TimedRun *model : {&late, &other, &fewer})
    for (const TimingComparison &c : {compare_runs(rtl, *model), compare_runs(*model, rtl)}) {
      EXPECT_EQ(c.marks_differ, 1U);
      EXPECT_FALSE(c.equal());
    }
  EXPECT_TRUE(compare_runs(rtl, away).host_differs);
  EXPECT_FALSE(compare_runs(rtl, away).equal());
}

/// On long streams, one event off anywhere is what is found.
TEST(CompareRuns, FindsOneWrongEventInALongStream) {
  const Machine npu = load_machine("configs/test8.toml");
  TimedRun rtl;
  rtl.times = timing::run(npu, corpus::make_stream(npu, corpus::Profile::kData, 5, 400).commands).commands;
  ASSERT_GT(rtl.times.size(), 400U);
  for (std::size_t i = 0; i < rtl.times.size(); i += 7)
    for (const Event event : runtime::kEvents) {
      TimedRun model = rtl;
      ++time_in(model, i, event);
      const TimingComparison c = compare_runs(rtl, model);
      ASSERT_TRUE(c.first);
      EXPECT_EQ(c.first->command, i);
      EXPECT_EQ(c.first->event, event);
    }
}

} // namespace
} // namespace gradweave::test
