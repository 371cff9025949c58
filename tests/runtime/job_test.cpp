// Jobs on the functional backend, end to end, and the device itself.
#include "runtime/job/job.hpp"

#include "base/file/output_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::runtime {
namespace {

JobSpec spec(const std::string &npu, const compiler::Layer &layer) {
  JobSpec s;
  s.network = "net";
  s.layers = {layer};
  s.npu = load_machine("configs/" + npu + ".toml");
  s.compile.pass = compiler::Pass::kBoth;
  s.backend = Backend::kFunctional;
  return s;
}

TEST(Job, EveryScheduleGivesTheSameBitsOnEveryNpu) {
  for (const char *npu : {"test8", "test6x10", "test16"})
    for (const compiler::Layer &layer :
         {compiler::Layer{"fc", 33, 41, 27, true, 0}, compiler::Layer{"v", 1, 50, 3, true, 0}})
      for (const DataKind data : {DataKind::kNormal, DataKind::kSpecial}) {
        std::vector<std::uint64_t> hashes;
        for (const compiler::Schedule schedule : compiler::all_schedules()) {
          JobSpec s = spec(npu, layer);
          s.data = data;
          s.compile.schedule = schedule;
          const JobResult r = run_job(s);
          ASSERT_EQ(r.outcome, Outcome::kPass) << npu << ": " << (r.failures.empty() ? "" : r.failures.front());
          ASSERT_EQ(r.outputs.size(), 3U);
          std::vector<std::uint64_t> now;
          for (const OutputCheck &check : r.outputs) {
            EXPECT_EQ(check.mismatches, 0U);
            now.push_back(check.hash);
          }
          if (hashes.empty()) hashes = now;
          EXPECT_EQ(now, hashes) << npu << " " << compiler::to_string(schedule);
        }
      }
}

/// Y of each layer is X of the next, and dX of that one dY of the layer: each golden tensor needs some before it.
TEST(Job, LayersThatTakeTensorsFromEachOtherAreCheckedTogether) {
  for (const compiler::Pass pass : {compiler::Pass::kForward, compiler::Pass::kBackward, compiler::Pass::kBoth})
    for (const char *npu : {"test8", "test6x10"}) {
      JobSpec s = spec(npu, {"l0", 20, 30, 40, false, 0});
      s.layers.push_back({"l1", 20, 40, 25, true, 1});
      s.layers.push_back({"l2", 20, 25, 40, true, 2});
      s.layers[1].input = "l0";
      s.layers[2].input = "l1";
      s.compile.pass = pass;
      s.compile.plans = 10;
      const JobResult r = run_job(s);
      EXPECT_EQ(r.outcome, Outcome::kPass) << npu << ": " << (r.failures.empty() ? "" : r.failures.front());
      EXPECT_EQ(r.layers.size(), 3U);
      EXPECT_GT(r.elements(), 0U);
      EXPECT_EQ(r.mismatches(), 0U);
    }
}

TEST(Job, ALayerThatDoesNotFitIsBadInput) {
  JobSpec s = spec("test8", {"huge", 1U << 20U, 1U << 20U, 1U << 20U, true, 0});
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kBadInput);
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_NE(r.failures.front().find("huge"), std::string::npos) << r.failures.front();
}

TEST(Job, OnTheTimingModelChecksCountersOnly) {
  JobSpec s = spec("test6x10", {"fc", 33, 41, 27, true, 0});
  s.backend = Backend::kTiming;
  JobEvents events;
  std::size_t commands = 0;
  std::uint64_t last = 0;
  events.times = [&](const compiler::Compiled &compiled, const std::vector<timing::CommandTimes> &times,
                     std::uint64_t cycles) {
    ASSERT_EQ(times.size(), compiled.stream.size());
    ASSERT_EQ(times.size(), compiled.info.size());
    commands = times.size();
    for (const timing::CommandTimes &t : times)
      last = std::max(last, t.done);
    EXPECT_EQ(cycles, last + 1);
  };
  const JobResult r = run_job(s, events);
  ASSERT_EQ(r.outcome, Outcome::kPass) << (r.failures.empty() ? "" : r.failures.front());
  EXPECT_TRUE(r.outputs.empty());
  EXPECT_EQ(r.commands, commands);
  EXPECT_EQ(r.cycles(), last + 1);
  EXPECT_EQ(run_job(s).cycles(), r.cycles());
}

TEST(Job, BackendsWithoutTimeReportNone) {
  JobEvents events;
  events.times = [](const auto &, const auto &, std::uint64_t) { FAIL() << "times of the functional model"; };
  EXPECT_EQ(run_job(spec("test8", {"fc", 8, 8, 8, true, 0}), events).outcome, Outcome::kPass);
}

TEST(Job, AnOutputThatCannotBeWrittenIsNoDeviceError) {
  JobSpec s = spec("test8", {"fc", 8, 8, 8, true, 0});
  s.backend = Backend::kTiming;
  JobEvents events;
  events.times = [](const auto &, const auto &, std::uint64_t) { throw OutputError("full.csv: cannot be written"); };
  const JobResult r = run_job(s, events);
  EXPECT_EQ(r.outcome, Outcome::kOutput);
  ASSERT_EQ(r.failures.size(), 1U);
  EXPECT_EQ(r.failures.front(), "full.csv: cannot be written");
}

TEST(Job, BackendsHaveNames) {
  for (const Backend backend : {Backend::kRtl, Backend::kTiming, Backend::kFunctional})
    EXPECT_EQ(parse_backend(to_string(backend)), backend);
  EXPECT_THROW(parse_backend("fpga"), std::invalid_argument);
}

TEST(Job, ReportsProgress) {
  std::uint64_t total = 0;
  JobEvents events;
  events.progress = [&](std::uint64_t retired, std::uint64_t all) {
    EXPECT_LE(retired, all);
    total = all;
  };
  run_job(spec("test8", {"fc", 200, 100, 100, true, 0}), events);
  EXPECT_GT(total, 0U);
}

TEST(FunctionalDevice, StopsAtAnIllegalCommandAndWorksAgain) {
  const auto device = make_functional_device(load_machine("configs/test8.toml"));
  isa::Decoded sync;
  sync.op = isa::SyncCommand{0};
  isa::Command illegal;
  illegal.words[0] = 0xff;
  device->submit({isa::encode(sync), illegal});
  const RunStatus status = device->wait();
  EXPECT_EQ(status.error, isa::ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(status.error_index, 1U);
  device->reset();
  device->submit({isa::encode(sync)});
  EXPECT_TRUE(device->wait().ok());
}

} // namespace
} // namespace gradweave::runtime
