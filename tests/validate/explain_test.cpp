// The message about a difference: what it says, and that what it reconstructs from the times is right.
#include "tests/validate/doctored.hpp"

#include <gtest/gtest.h>

namespace gradweave::test {
namespace {

using runtime::TimedRun;

void expect_in(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in\n" << text;
}

TEST(Explain, ALateStartShowsQueuesAndSemaphores) {
  TimedRun model = small_run();
  model.times[2] = {14, 122, 161};
  model.times[3] = {16, 162, 201};
  expect_in(explain_small(small_run(), model),
            {"first difference in time: start of command #2 GEMM ffn1 8x8x8 a=0 b=0 cout=0 (compute0): ",
             ": RTL in cycle 121, model in cycle 122\n", "Both agree on everything before cycle 121",
             "state at the start of cycle 121:\n", "compute0  in flight 0: none\n              queued 1: #2 GEMM",
             "load      in flight 0: none\n", "store     in flight 0: none\n              queued 1: #3 STORE",
             "dispatch  has issued all 4 commands\n",
             "semaphore 3: the command takes 2, it holds 2; last post in cycle 120 by #1 LOAD",
             "100        100  done  #0 LOAD", "121        122  start #2 GEMM 8x8x8 a=0 b=0 cout=0  <-- first\n",
             "160        161  done  #2 GEMM 8x8x8 a=0 b=0 cout=0  <-- differs\n", "RTL    rtl/cmd/gw_semaphores.sv",
             "model  sw_models/timing/npu_timing.cpp", "kPostToTake", "docs/timing-model.md"});
}

/// The state is that before the earlier of the two cycles, so a command that only one side has started is queued.
TEST(Explain, AnEarlyStartShowsTokensThatAreNotThereYet) {
  TimedRun model = small_run();
  model.times[2].start = 110;
  expect_in(explain_small(small_run(), model),
            {"start of command #2", "RTL in cycle 121, model in cycle 110",
             "in flight 1: #1 LOAD 8x8 bf16 dram=0x0 spm=0 (since 40)",
             "semaphore 3: the command takes 2, it holds 1; last post in cycle 100 by #0 LOAD"});
  model.times[2].start = 90;
  expect_in(explain_small(small_run(), model), {"it holds 0; nobody posted it yet", "in flight 2: #0 LOAD"});
}

TEST(Explain, AnIssueShowsDispatch) {
  TimedRun model = small_run();
  model.times[1].issue = 13;
  expect_in(explain_small(small_run(), model),
            {"issue of command #1 LOAD", "load      in flight 0: none\n              queued 1: #0 LOAD",
             "dispatch  next is #1 LOAD 8x8 bf16 dram=0x0 spm=0; RTL issues it in cycle 12, the model in cycle 13\n",
             "rtl/cmd/gw_cmd_fetch.sv", "kWordToCheck"});
}

TEST(Explain, ACompletionShowsTheEngine) {
  TimedRun model = small_run();
  model.times[3].done = timing::kNever;
  expect_in(explain_small(small_run(), model), {"done of command #3 STORE", "RTL in cycle 200, model in cycle never",
                                                "store     in flight 1: #3 STORE", "rtl/dma/gw_dma_store.sv"});
}

TEST(Explain, LongQueuesAreCut) {
  std::vector<isa::Decoded> stream(9, small_stream()[0]);
  TimedRun rtl;
  for (std::uint64_t i = 0; i < stream.size(); ++i)
    rtl.times.push_back({10 + i, i == 0 ? 15 : 100 + i, 200 + i});
  TimedRun model = rtl;
  model.times[1].start = 102;
  const std::string text = runtime::explain(runtime::compare_runs(rtl, model), rtl, model, describe(stream));
  expect_in(text, {"queued 8: #1 LOAD", ", and 4 more\n"});
}

TEST(Explain, CountersAreNamed) {
  TimedRun model = small_run();
  const auto load_sem = static_cast<std::size_t>(isa::Counter::LOAD_SEM);
  ++model.counters.values[load_sem];
  expect_in(explain_small(small_run(), model), {"counter LOAD_SEM        RTL        103  model        104\n",
                                                "all events agree; where to look:", "rtl/cmd/gw_perf_counters.sv"});
}

TEST(Explain, EndsAreNamed) {
  TimedRun rtl = small_run();
  rtl.status = {isa::ErrorCode::WATCHDOG, 2};
  expect_in(
      explain_small(rtl, small_run()),
      {"the run ends differently: RTL with WATCHDOG at command 2, model with no error\n", "rtl/cmd/gw_run_ctrl.sv"});
}

/// A trace file has no waits; the rest is explained all the same.
TEST(Explain, WorksWithoutWaitsAndPosts) {
  TimedRun model = small_run();
  model.times[2].start = 122;
  runtime::DescribedStream described = describe(small_stream());
  described.sync = {};
  const std::string text = runtime::explain(runtime::compare_runs(small_run(), model), small_run(), model, described);
  expect_in(text, {"start of command #2", "where to look:"});
  EXPECT_EQ(text.find("semaphore 3"), std::string::npos);
}

TEST(Explain, MarksAndTheHostOfARing) {
  TimedRun rtl = small_run();
  rtl.marks = {{7, 100}, {8, 150}};
  rtl.host = {8, 20, 162};
  TimedRun model = rtl;
  model.marks[1].cycle = 151;
  model.host = {8, 20};
  expect_in(explain_small(rtl, model),
            {"1 of 2 marks differ; first mark 1: RTL tag 8 in cycle 150, model tag 8 in cycle 151",
             "went another way from its access 2 on: RTL in cycle 162, model in never", "all events agree"});
  model.marks.pop_back();
  expect_in(explain_small(rtl, model), {"RTL tag 8 in cycle 150, model none"});
}

} // namespace
} // namespace gradweave::test
