// Names of commands and the timing trace: what is written is read back, and every kind of broken file is refused with
// file, line, field and remedy.
#include "trace/command_trace.hpp"

#include "compiler/compiler.hpp"
#include "isa/assembler.hpp"
#include "sw_models/config/npu_config.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace gradweave::runtime {
namespace {

using compiler::CommandInfo;
using compiler::Tensor;
using timing::kNever;

isa::Command command(const std::string &text) { return isa::assemble(text).front(); }

const char *const kLoad = "LOAD bf16 dram=0x1000 pitch=640 rows=18 cols=90 spm=8 pstride=18 wait=1:1 post=3 tag=5";
const char *const kStore = "STORE fp32 dram=0x8000 rows=1 cols=4 spm=360";
const char *const kGemm = "GEMM fp32 m=8 n=9 k=10 a=col:0:8:0 b=row:180:8:0 cout=360:8:0";
const char *const kSync = "SYNC engine=store wait=3:2";
const std::string kUnknown = "RAW 0xff 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

TEST(CommandLabel, NamesTheTileOfACompiledCommand) {
  EXPECT_EQ(tile_label({Tensor::kDY, false, 0, 90, 45, 45, 0, 0}), "dY[0:45,90:135]");
  EXPECT_EQ(tile_label({Tensor::kDX, true, 8, 0, 8, 16, 0, 0}), "partial dX[8:16,0:16]");
  EXPECT_EQ(tile_label({Tensor::kDW, false, 0, 90, 45, 45, 128, 64}), "dW[0:45,90:135] red 128:192");
  EXPECT_EQ(tile_label(CommandInfo{}), "");
}

TEST(CommandLabel, NamesTheFieldsOfOthers) {
  EXPECT_EQ(tile_label(command(kLoad)), "18x90 bf16 dram=0x1000 spm=8");
  EXPECT_EQ(tile_label(command(kStore)), "1x4 fp32 dram=0x8000 spm=360");
  EXPECT_EQ(tile_label(command(kGemm)), "8x9x10 a=0 b=180 cout=360");
  EXPECT_EQ(tile_label(command(kSync)), "");
  EXPECT_EQ(tile_label(command(kUnknown)), "");
}

TEST(CommandLabel, HasEngineAndOpcode) {
  const auto names = [](const char *text) {
    const CommandLabel label = label_command("l", command(text));
    return label.engine + " " + label.opcode;
  };
  EXPECT_EQ(names(kLoad), "load LOAD");
  EXPECT_EQ(names(kStore), "store STORE");
  EXPECT_EQ(names(kGemm), "compute0 GEMM");
  EXPECT_EQ(names(kSync), "store SYNC");
  EXPECT_EQ(names(kUnknown.c_str()), " 0xff");
}

TEST(CommandLabel, JoinsWhatThereIs) {
  const CommandInfo info{Tensor::kDW, false, 0, 9, 8, 9, 0, 10};
  EXPECT_EQ(label_command("ffn1", command(kGemm), &info).text(), "GEMM ffn1 dW[0:8,9:18] red 0:10");
  EXPECT_EQ(label_command("", command(kSync)).text(), "SYNC");
}

/// A trace in a file of its own.
class CommandTrace : public ::testing::Test {
protected:
  std::vector<TracedCommand> read(const std::string &text) const {
    std::ofstream(file_, std::ios::binary) << text;
    return read_command_trace(file_);
  }
  /// What reading `rows` under a proper header complains of.
  std::string complaint(const std::string &rows) const {
    try {
      read(std::string(command_trace_header()) + rows);
    } catch (const ConfigError &error) {
      return error.what();
    }
    return "nothing";
  }
  const test::ScratchDirectory scratch_;
  const std::filesystem::path file_ = scratch_ / "trace.csv";
};

TEST_F(CommandTrace, ComesBackAsItWasWritten) {
  const std::vector<isa::Command> stream{command(kLoad), command(kGemm), command(kStore), command(kUnknown)};
  const std::vector<CommandInfo> info{{Tensor::kX, false, 0, 0, 18, 90, 0, 0},
                                      {Tensor::kDW, false, 0, 9, 8, 9, 0, 10},
                                      {Tensor::kDW, true, 0, 0, 1, 4, 0, 0},
                                      {}};
  const std::vector<timing::CommandTimes> times{{0, 1, 200}, {5, 200, kNever}, {6, kNever, kNever}, {}};
  const std::string layer = "a \"quoted\", odd name";
  const std::string rows = command_trace_rows(layer, stream, info, times);
  EXPECT_NE(rows.find("0,load,LOAD,\"a \"\"quoted\"\", odd name\",\"X[0:18,0:90]\",0,1,200\n"), std::string::npos)
      << rows;
  // Two streams in one file: the index starts anew.
  const auto back = read(std::string(command_trace_header()) + rows + command_trace_rows("b", stream, {}, times));
  ASSERT_EQ(back.size(), 8U);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const std::size_t at = i % 4;
    const CommandLabel label = i < 4 ? label_command(layer, stream[at], &info[at]) : label_command("b", stream[at]);
    EXPECT_EQ(back[i].index, at);
    EXPECT_EQ(back[i].times, times[at]);
    EXPECT_EQ(back[i].label.text(), label.text());
    EXPECT_EQ(back[i].label.engine, label.engine);
    EXPECT_EQ(back[i].label.layer, label.layer);
  }
}

TEST_F(CommandTrace, OfNoCommandsIsAHeader) { EXPECT_TRUE(read(std::string(command_trace_header())).empty()); }

TEST_F(CommandTrace, NeedsATimeForEachCommand) {
  EXPECT_THROW(command_trace_rows("l", {command(kLoad)}, {}, {}), std::invalid_argument);
  EXPECT_THROW(command_trace_rows("l", {command(kLoad)}, {{}, {}}, {{0, 1, 2}}), std::invalid_argument);
}

TEST_F(CommandTrace, BrokenFilesAreRefusedWithPlaceAndRemedy) {
  const std::string good = "0,load,LOAD,l,t,1,2,3\n";
  struct Case {
    std::string rows, message;
  };
  for (const Case &c : {Case{"0,load,LOAD,l,t,1,2\n", ":2: 7 fields where there must be 8"},
                        Case{"0,load,LOAD,l,t,1,2,3,4\n", ":2: 9 fields"}, Case{good + "\n", ":3: 1 fields"},
                        Case{good + "one,load,LOAD,l,t,1,2,3\n", ":3: index = 'one' is not a whole number"},
                        Case{good + "1,load,LOAD,l,t,-1,2,3\n", ":3: issue = '-1'"},
                        Case{good + "1,load,LOAD,l,t,1,2,3x\n", ":3: done = '3x'"},
                        Case{good + "1,load,LOAD,l,t,1,2,99999999999999999999\n", ":3: done = '9999"},
                        Case{good + "1,load,LOAD,l,t,4,3,9\n", ":3: start = 3 is before issue = 4"},
                        Case{good + "1,load,LOAD,l,t,4,9,8\n", ":3: done = 8 is before start = 9"},
                        Case{good + "1,load,LOAD,l,t,4,,8\n", ":3: done = 8, but start is empty"},
                        Case{good + "1,load,,l,t,4,5,8\n", ":3: opcode = ''"},
                        Case{good + "2,load,LOAD,l,t,1,2,3\n", ":3: index = 2, but 1 has to follow"},
                        Case{"1,load,LOAD,l,t,1,2,3\n", ":2: index = 1, but 0 has to follow"},
                        Case{"0,load,LOAD,l,\"t,1,2,3\n", ":2: a quote is not closed"},
                        Case{good + "1,load,LOAD,l,t,1,2,3", ":3: the file ends in the middle"}}) {
    const std::string said = complaint(c.rows);
    EXPECT_NE(said.find(file_.string() + c.message), std::string::npos) << c.message << " is not in: " << said;
    EXPECT_NE(said.find("; write the trace again"), std::string::npos) << said;
  }
  EXPECT_EQ(complaint(good + "1,load,LOAD,l,t,,,\n"), "nothing");
}

TEST_F(CommandTrace, OtherFilesAreRefused) {
  EXPECT_THROW(read(""), ConfigError);
  EXPECT_THROW(read("index,engine\n"), ConfigError);
  EXPECT_THROW(read_command_trace("none.csv"), ConfigError);
  EXPECT_THROW(read_command_trace("."), ConfigError);
}

} // namespace
} // namespace gradweave::runtime
