// The catalog's files, what runs leave behind, and the commands in flight.
#include "tests/support/scratch_directory.hpp"
#include "tests/trace/wave/in_flight.hpp"
#include "tests/trace/wave/recording.hpp"
#include "tests/trace/wave/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace gradweave::wave {
namespace {

const std::string kCommands = "LOAD bf16 dram=0x0 rows=1 cols=8 spm=0 pstride=1  # 0: X[0:1,0:8]\n"
                              "SYNC engine=compute0\n"
                              "STORE bf16 dram=0x100 rows=1 cols=8 spm=0 pstride=1  # 2: Y[0:1,0:8]\n";

class ScenarioFile : public testing::Test {
protected:
  Scenario read(const std::string &directives) {
    std::ofstream(file) << directives << kCommands;
    return read_scenario(file);
  }
  std::string message(const std::string &directives) {
    try {
      read(directives);
    } catch (const ConfigError &e) {
      return e.what();
    }
    return "";
  }
  const std::string file = test::scratch_file("scenario.txt");
};

TEST_F(ScenarioFile, HoldsCommandsTilesAndDirectives) {
  const Scenario s =
      read("#! npu test8\n#! about two words\n#! layer fc\n#! stall 25 9\n#! watchdog 300\n#! offset 128\n"
           "#! fault hang write 0x10 4\n#! fault slverr read stream+64 1\n#! reset 70\n#! poll\n#! again\n"
           "#! base 0x1000\n#! end SPM_RANGE 2\n");
  EXPECT_EQ(s.name, "scenario");
  EXPECT_EQ(s.npu, "test8");
  EXPECT_EQ(s.about, "two words");
  EXPECT_EQ(s.layer, "fc");
  ASSERT_EQ(s.commands.size(), 3U);
  EXPECT_EQ(s.tiles, (std::vector<std::string>{"X[0:1,0:8]", "", "Y[0:1,0:8]"}));
  EXPECT_EQ(s.device.stress.stall_probability, 0.25);
  EXPECT_EQ(s.device.stress.seed, 9U);
  EXPECT_EQ(s.device.watchdog_cycles, 300U);
  ASSERT_EQ(s.device.faults.size(), 2U);
  EXPECT_EQ(s.device.faults[0].kind, BusFault::Kind::kHang);
  EXPECT_TRUE(s.device.faults[0].write);
  EXPECT_EQ(s.device.faults[1].addr, kDataBytes + 128 + 64);
  EXPECT_EQ(s.reset_cycle, 70U);
  EXPECT_TRUE(s.poll && s.again);
  EXPECT_EQ(s.base, 0x1000U);
  EXPECT_EQ(s.end.error, isa::ErrorCode::SPM_RANGE);
  EXPECT_EQ(s.end.error_index, 2U);
}

TEST_F(ScenarioFile, ErrorsNameTheLine) {
  EXPECT_EQ(message(""), file + ": has no '#! npu NAME'");
  EXPECT_EQ(message("#! npu\n"), file + ":1: name of an NPU is missing");
  EXPECT_EQ(message("#! npu test8\n#! stal 3\n"), file + ":2: 'stal' is no directive");
  EXPECT_EQ(message("#! reset soon\n"), file + ":1: 'soon' is no number");
  EXPECT_EQ(message("#! end BROKEN\n"), file + ":1: 'BROKEN' is no error code");
  EXPECT_EQ(message("#! fault hang sideways 0 1\n"), file + ":1: 'sideways' is no direction");
  EXPECT_EQ(message("#! poll often\n"), file + ":1: 'often' is too much");
}

TEST(Catalog, HasEverySchedule) {
  std::vector<std::string> names;
  for (const Scenario &s : read_catalog("tests/trace/wave/streams"))
    names.push_back(s.name);
  for (const char *schedule : {"sequential", "interleave", "dx_major", "dw_major", "rearrange"})
    EXPECT_NE(std::find(names.begin(), names.end(), schedule), names.end()) << schedule;
  EXPECT_THROW(read_catalog("/nowhere"), ConfigError);
}

class InFlight : public ScenarioFile {
protected:
  InFlight() {
    scenario = read("#! npu test8\n#! layer fc\n");
    const std::uint64_t never = timing::kNever;
    recording.runs.push_back({100, {{1, 2, 20}, {2, 30, 31}, {3, 10, never}}});
  }
  std::vector<std::string> at(std::uint64_t cycle, const std::string &signal = "TOP.npu.run") const {
    return commands_in_flight(scenario, recording, cycle, signal);
  }
  Scenario scenario;
  Recording recording;
};

TEST_F(InFlight, TellsTheCommandsBetweenStartAndEnd) {
  EXPECT_EQ(at(99), std::vector<std::string>{"before the first start"});
  EXPECT_EQ(at(100), std::vector<std::string>{"before the first command is issued"});
  EXPECT_EQ(at(115).size(), 3U);
  EXPECT_EQ(at(115)[0], "in flight: command 0: LOAD bf16 dram=0x0 rows=1 cols=8 spm=0 pstride=1 rot=0, layer "
                        "fc, tile X[0:1,0:8]");
  EXPECT_EQ(at(115)[1].rfind("in flight: command 2: STORE", 0), 0U) << "a command that never completes stays in flight";
  EXPECT_EQ(at(115)[2].rfind("issued last: command 2", 0), 0U);
}

TEST_F(InFlight, TheSignalsOwnEngineComesFirst) {
  EXPECT_EQ(at(115, "TOP.npu.u_store.aw_valid_q")[0].rfind("in flight: command 2", 0), 0U);
  EXPECT_EQ(at(130, "TOP.npu.gen_core[0].u_core.sync_q")[0].rfind("in flight: command 1: SYNC", 0), 0U);
}

TEST_F(InFlight, SaysWhichRun) {
  recording.runs.push_back({500, {{1, 2, 20}, {2, 30, 31}, {3, 40, 50}}});
  EXPECT_EQ(at(115)[0], "run 1 of 2, its cycle 15");
  EXPECT_EQ(at(560)[0], "run 2 of 2, its cycle 60");
  EXPECT_EQ(at(560)[1].rfind("nothing in flight; completed last: command 2", 0), 0U) << at(560)[1];
}

TEST(RecordingFile, IsReadAsWritten) {
  const std::string file = test::scratch_file("recording.json");
  Recording written{1250, {{7, {{1, 2, timing::kNever}}}, {9, {}}}, "NONE", "why"};
  write_recording(written, file);
  const Recording read = read_recording(file);
  EXPECT_EQ(read.period, 1250U);
  ASSERT_EQ(read.runs.size(), 2U);
  EXPECT_EQ(read.runs[0].first_cycle, 7U);
  EXPECT_EQ(read.runs[0].times, written.runs[0].times);
  EXPECT_EQ(read.end, "NONE");
  EXPECT_EQ(read.failed, "why");
  std::ofstream(file) << "{}";
  EXPECT_THROW(read_recording(file), ConfigError);
  std::filesystem::remove(file);
  EXPECT_THROW(read_recording(file), ConfigError);
}

} // namespace
} // namespace gradweave::wave
