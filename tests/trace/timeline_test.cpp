// Timelines of streams that are small enough to know every bar and value; and times that cannot be are refused.
#include "trace/timeline/timeline.hpp"

#include "isa/assembler.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/trace/timeline_format.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>

namespace gradweave::runtime::timeline {
namespace {

using test::Trace;
using test::TraceProcess;
using test::TraceSlice;
using timing::CommandTimes;
using timing::kNever;
using Samples = std::vector<std::pair<std::uint64_t, std::int64_t>>;

/// Four lanes, two banks of 16 rows.
Machine small_npu() {
  Machine npu;
  npu.name = "four";
  npu.rows = npu.cols = 4;
  npu.spm_bytes = 2 * 4 * 32;
  npu.spm_banks = 2;
  npu.bus_bytes = 4;
  return npu;
}

/// Two loads feed a product, which is stored. In the scratchpad: A in rows 0-3, B in 14-17 (of both banks), C, fp32, in
/// 20-27.
struct Example {
  Machine npu = small_npu();
  std::vector<isa::Command> stream =
      isa::assemble("LOAD bf16 dram=0x0 pitch=8 rows=4 cols=4 spm=0 post=1\n"
                    "LOAD bf16 dram=0x40 pitch=8 rows=4 cols=4 spm=14 post=1\n"
                    "GEMM fp32 m=4 n=4 k=4 a=row:0:0:0 b=row:14:0:0 cout=20:0:0 wait=1:2 post=2\n"
                    "STORE fp32 dram=0x80 pitch=16 rows=4 cols=4 spm=20 wait=2:1 post=3\n");
  std::vector<CommandTimes> times{{1, 2, 20}, {2, 3, 30}, {3, 31, 50}, {4, 51, 60}};
  std::uint64_t cycles = 61;

  Run run() const {
    return {"layer", npu, stream, times, cycles, [this](std::size_t i) { return label_command("layer", stream[i]); }};
  }
};

class TimelineTest : public test::CommandLineTest {
protected:
  /// Reads back what `fill` draws; it has to keep the format's rules.
  Trace draw(const Machine &npu, const std::function<void(Timeline &)> &fill) {
    const std::filesystem::path file = work() / "timeline.json";
    OutputFile output(file);
    Timeline timeline(output, Compression::kNone, npu, "test");
    fill(timeline);
    timeline.commit();
    Trace trace = test::read_timeline(test::read_file(file));
    EXPECT_EQ(trace.problems, std::vector<std::string>{});
    return trace;
  }
  TraceProcess draw(const Example &example) {
    return draw(example.npu, [&](Timeline &t) { t.add(Source::kModel, example.run(), 0); })
        .processes.at("timing model: test");
  }
  /// What add() says of impossible times.
  std::string complaint(const Example &example) {
    try {
      OutputFile output(work() / "timeline.json");
      Timeline(output, Compression::kNone, example.npu, "test").add(Source::kRtl, example.run(), 0);
    } catch (const TimelineError &error) {
      return error.what();
    }
    return "drawn";
  }
};

void expect_slice(const TraceSlice &slice, std::uint64_t begin, std::uint64_t end, const std::string &name) {
  EXPECT_EQ(slice.begin, begin) << name;
  EXPECT_EQ(slice.end, end) << name;
  EXPECT_EQ(slice.name, name);
}

TEST_F(TimelineTest, ShowsEachCommandFromStartToDone) {
  const TraceProcess p = draw(Example());
  ASSERT_EQ(p.rows.at("load/1").size(), 1U);
  ASSERT_EQ(p.rows.at("load/2").size(), 1U) << "loads in flight together need two rows";
  expect_slice(p.rows.at("layers").at(0), 0, 61, "layer");
  expect_slice(p.rows.at("load/1").at(0), 2, 21, "LOAD layer 4x4 bf16 dram=0x0 spm=0");
  expect_slice(p.rows.at("load/2").at(0), 3, 31, "LOAD layer 4x4 bf16 dram=0x40 spm=14");
  expect_slice(p.rows.at("array/1").at(0), 31, 51, "GEMM layer 4x4x4 a=0 b=14 cout=20");
  expect_slice(p.rows.at("store/1").at(0), 51, 61, "STORE layer 4x4 fp32 dram=0x80 spm=20");
}

TEST_F(TimelineTest, GivesTheDetailsOfACommand) {
  const TraceProcess p = draw(Example());
  EXPECT_EQ(p.rows.at("load/2").at(0).args,
            nlohmann::json::parse(R"({"index":1,"opcode":"LOAD","layer":"layer","tile":"4x4 bf16 dram=0x40 spm=14",
      "issue":2,"start":3,"done":30,"posts":"1","shape":"4 x 4 bf16","bytes":32,"dram":"0x40","spm_row":14})"));
  EXPECT_EQ(p.rows.at("array/1").at(0).args,
            nlohmann::json::parse(R"({"index":2,"opcode":"GEMM","layer":"layer","tile":"4x4x4 a=0 b=14 cout=20",
      "issue":3,"start":31,"done":50,"waits":"1x2","posts":"2","shape":"m 4 n 4 k 4, zero to fp32","macs":64,
      "a_row":0,"b_row":14,"cout_row":20})"));
}

TEST_F(TimelineTest, ShowsWhatTheHeadOfAQueueWaitsFor) {
  Example e;
  e.times[2].start = 34; // released in cycle 31
  const TraceProcess p = draw(e);
  EXPECT_EQ(p.rows.count("load/queue"), 0U) << "loads start as soon as they are there";
  const auto &waits = p.rows.at("array/queue");
  ASSERT_EQ(waits.size(), 2U);
  expect_slice(waits[0], 4, 31, "semaphore 1");
  EXPECT_EQ(waits[0].args.at("index"), 2);
  EXPECT_EQ(waits[0].args.at("posted_by"), 1) << "the second token came last";
  expect_slice(waits[1], 31, 34, "engine");
  EXPECT_EQ(p.counters.at("array queue"), (Samples{{0, 0}, {4, 1}, {34, 0}, {61, 0}}));
}

TEST_F(TimelineTest, PointsFromThePostToTheCommandItReleases) {
  const TraceProcess p = draw(Example());
  ASSERT_EQ(p.arrows.size(), 2U);
  EXPECT_EQ(p.arrows[0].from_row, "load/2");
  EXPECT_EQ(p.arrows[0].from, 30U);
  EXPECT_EQ(p.arrows[0].to_row, "array/1");
  EXPECT_EQ(p.arrows[0].to, 31U);
}

TEST_F(TimelineTest, CountsSemaphores) {
  const TraceProcess p = draw(Example());
  EXPECT_EQ(p.counters.at("semaphore 01"), (Samples{{0, 0}, {21, 1}, {31, 0}, {61, 0}})) << "31: one post, two taken";
  EXPECT_EQ(p.counters.at("semaphore 02"), (Samples{{0, 0}, {61, 0}})) << "taken as soon as it is there";
  EXPECT_EQ(p.counters.at("semaphore 03"), (Samples{{0, 0}, {61, 1}, {61, 1}}));
  EXPECT_EQ(p.counters.count("semaphore 04"), 0U);
}

TEST_F(TimelineTest, CountsOccupiedRowsOfEachBank) {
  const TraceProcess p = draw(Example());
  EXPECT_EQ(p.counters.at("bank 0"), (Samples{{0, 0}, {2, 4}, {3, 6}, {51, 0}, {61, 0}}));
  EXPECT_EQ(p.counters.at("bank 1"), (Samples{{0, 0}, {3, 2}, {31, 10}, {51, 8}, {61, 0}, {61, 0}}));
}

TEST_F(TimelineTest, AContentThatNobodyUsesLivesUntilItIsComplete) {
  Example e;
  e.stream.resize(1);
  e.times.resize(1);
  EXPECT_EQ(draw(e).counters.at("bank 0"), (Samples{{0, 0}, {2, 4}, {21, 0}, {61, 0}}));
}

TEST_F(TimelineTest, AWriteEndsWhatTheRowHeldBefore) {
  Example e;
  // Rows 0-3 are loaded again after the product has read them, and stored.
  for (const isa::Command &c :
       isa::assemble("LOAD bf16 dram=0x0 pitch=8 rows=2 cols=4 spm=2\nSTORE bf16 dram=0x0 pitch=8 rows=4 cols=4 spm=0"))
    e.stream.push_back(c);
  e.times.insert(e.times.end(), {{5, 70, 80}, {6, 90, 99}});
  e.cycles = 100;
  // Rows 0 and 1 live from the first load to the last store; rows 2 and 3 have a gap between their two contents.
  EXPECT_EQ(draw(e).counters.at("bank 0"), (Samples{{0, 0}, {2, 4}, {3, 6}, {51, 2}, {70, 4}, {100, 0}, {100, 0}}));
}

TEST_F(TimelineTest, CountsARowOnceWhereAGemmAccumulatesInPlace) {
  Example e;
  e.stream[3] = isa::assemble("GEMM fp32 m=4 n=4 k=4 a=row:0:0:0 b=row:14:0:0 cin=20:0:0 cout=20:0:0 wait=2:1").front();
  e.times[3] = {4, 51, 60};
  const Samples bank = draw(e).counters.at("bank 1");
  EXPECT_EQ(bank, (Samples{{0, 0}, {3, 2}, {31, 10}, {61, 0}, {61, 0}}));
}

TEST_F(TimelineTest, DrawsWhatAStoppedRunLeavesUnfinished) {
  Example e;
  e.times[1].done = kNever; // the second load hangs: the product never starts, the store is never issued
  e.times[2].start = e.times[2].done = kNever;
  e.times[3] = {};
  const TraceProcess p = draw(e);
  expect_slice(p.rows.at("load/2").at(0), 3, 61, "LOAD layer 4x4 bf16 dram=0x40 spm=14");
  EXPECT_TRUE(p.rows.at("load/2").at(0).args.at("done").is_null());
  EXPECT_EQ(p.rows.count("array/1"), 0U);
  expect_slice(p.rows.at("array/queue").at(0), 4, 61, "semaphore 1");
  EXPECT_EQ(p.rows.count("store/queue"), 0U);
  EXPECT_EQ(p.counters.at("bank 0"), (Samples{{0, 0}, {2, 4}, {3, 6}, {21, 2}, {61, 0}, {61, 0}}));
}

TEST_F(TimelineTest, PutsRtlAndModelSideBySideAndLayersOneBehindAnother) {
  const Example e;
  Example slower = e;
  slower.times[3].done = 70;
  slower.cycles = 71;
  const Trace trace = draw(e.npu, [&](Timeline &t) {
    t.add(Source::kRtl, e.run(), 0);
    t.add(Source::kModel, slower.run(), 0);
    t.add(Source::kRtl, e.run(), 71);
    t.add(Source::kModel, e.run(), 71);
  });
  const TraceProcess &rtl = trace.processes.at("RTL: test"), &model = trace.processes.at("timing model: test");
  EXPECT_EQ(rtl.rows.at("store/1").at(0).end, 61U);
  EXPECT_EQ(model.rows.at("store/1").at(0).end, 71U);
  EXPECT_EQ(rtl.rows.at("store/1").at(1).begin, 71U + 51U);
  EXPECT_EQ(rtl.counters.at("semaphore 03"), (Samples{{0, 0}, {61, 1}, {71, 0}, {132, 1}, {132, 1}}))
      << "each run begins with semaphores at zero";
  EXPECT_EQ(trace.other_data.at("time_unit"), "1 us is 1 cycle");
}

TEST_F(TimelineTest, RunsOfASourceMustNotOverlap) {
  const Example e;
  OutputFile output(work() / "timeline.json");
  Timeline timeline(output, Compression::kNone, e.npu, "test");
  timeline.add(Source::kRtl, e.run(), 0);
  EXPECT_THROW(timeline.add(Source::kRtl, e.run(), 60), std::invalid_argument);
}

TEST_F(TimelineTest, EscapesNames) {
  Example e;
  const Trace trace = draw(e.npu, [&](Timeline &t) {
    auto run = e.run();
    run.name = "a\"b\\c\n{\xff";
    t.add(Source::kRtl, run, 0);
  });
  EXPECT_EQ(trace.processes.at("RTL: test").rows.at("layers").at(0).name, "a\"b\\c\n{\xef\xbf\xbd");
}

TEST_F(TimelineTest, CompressesIfTheNameAsksForIt) {
  const Example e;
  for (const char *name : {"timeline.json", "timeline.json.gz"}) {
    OutputFile output(work() / name);
    Timeline timeline(output, compression_of(name), e.npu, "test");
    timeline.add(Source::kRtl, e.run(), 0);
    timeline.commit();
  }
  const std::string plain = test::read_file(work() / "timeline.json");
  EXPECT_LT(std::filesystem::file_size(work() / "timeline.json.gz"), plain.size() / 3);
  std::string unpacked(2 * plain.size(), '\0');
  const gzFile file = gzopen((work() / "timeline.json.gz").c_str(), "rb");
  const int bytes = gzread(file, unpacked.data(), static_cast<unsigned>(unpacked.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  unpacked.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  EXPECT_EQ(unpacked, plain);
}

TEST_F(TimelineTest, RefusesTimesOfAnotherNumberOfCommands) {
  Example e;
  e.times.pop_back();
  EXPECT_NE(complaint(e).find("layer: times of 3 commands for a stream of 4"), std::string::npos) << complaint(e);
}

TEST_F(TimelineTest, RefusesStationsOutOfOrder) {
  Example e;
  e.times[1].start = 2;
  EXPECT_NE(complaint(e).find("command 1 (LOAD bf16 dram=0x40"), std::string::npos) << complaint(e);
  EXPECT_NE(complaint(e).find("issue in cycle 2, start in cycle 2 and done in cycle 30"), std::string::npos);
  e.times[1] = {2, kNever, 30};
  EXPECT_NE(complaint(e).find("start in never"), std::string::npos) << complaint(e);
}

TEST_F(TimelineTest, RefusesEventsAfterTheRun) {
  Example e;
  e.cycles = 60;
  EXPECT_NE(complaint(e).find("command 3"), std::string::npos) << complaint(e);
  EXPECT_NE(complaint(e).find("cycle 60 is after the run, which has 60 cycles"), std::string::npos) << complaint(e);
}

TEST_F(TimelineTest, RefusesCommandsThatOvertakeWithinAnEngine) {
  Example e;
  e.times[0].done = 31;
  EXPECT_NE(complaint(e).find("command 1"), std::string::npos) << complaint(e);
  EXPECT_NE(complaint(e).find("its completion overtakes"), std::string::npos) << complaint(e);
}

TEST_F(TimelineTest, RefusesATokenThatIsTakenBeforeItIsPosted) {
  Example e;
  e.times[2].start = 30; // the post of cycle 30 can be taken from cycle 31 on
  EXPECT_NE(complaint(e).find("command 2: starts in cycle 30 and takes 2 from semaphore 1, which holds 1 then"),
            std::string::npos)
      << complaint(e);
}

TEST_F(TimelineTest, RefusesAStreamThatThisNpuCannotHaveRun) {
  Example e;
  e.npu.spm_bytes /= 2;
  EXPECT_NE(complaint(e).find("it was issued, but is not legal: SPM_RANGE"), std::string::npos) << complaint(e);
}

} // namespace
} // namespace gradweave::runtime::timeline
