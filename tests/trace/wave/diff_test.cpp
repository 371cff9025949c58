// Two files: signals on one side, other widths, timescales, offsets, clocks; and what is said about them.
#include "tests/trace/wave/unit.hpp"
#include "trace/wave/diff.hpp"
#include "trace/wave/diff_text.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::wave {
namespace {

class DiffTest : public testing::Test {
protected:
  DiffReport compare_files(std::uint64_t a_end = 100, std::uint64_t b_end = 100) {
    return diff(FstFile(a.write(a_end)), FstFile(b.write(b_end)), options);
  }
  std::string problem() {
    try {
      compare_files();
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  }

  TemporaryFst a{"diff_a"}, b{"diff_b"};
  DiffOptions options;
};

const ChangeList kPulse = changes({{0, "0"}, {40, "1"}, {50, "0"}}),
                 kLatePulse = changes({{0, "0"}, {43, "1"}, {53, "0"}});

TEST_F(DiffTest, EqualFiles) {
  a.bits("top.x", 1, kPulse);
  b.bits("top.x", 1, kPulse);
  const DiffReport report = compare_files();
  EXPECT_TRUE(report.equal());
  EXPECT_EQ(diff_text(report, time_format(report, 0), {"a", "b"}, 5), "equal: 1 signal, 0 ns to 100 ns\n");
}

TEST_F(DiffTest, TheFirstDifferenceComesFirstAndRegistersBeforeWires) {
  for (TemporaryFst *file : {&a, &b}) {
    const ChangeList &list = file == &a ? kPulse : kLatePulse;
    file->bits("top.a_wire", 1, list).bits("top.b_q", 1, list);
  }
  a.bits("top.c", 4, changes({{0, "0000"}, {60, "1010"}}));
  b.bits("top.c", 4, changes({{0, "0000"}, {60, "1011"}}));
  const DiffReport report = compare_files();
  ASSERT_EQ(report.differing.size(), 3U);
  EXPECT_EQ(report.differing[0].name, "top.b_q");
  EXPECT_EQ(report.differing[1].name, "top.a_wire");
  EXPECT_EQ(report.differing[2].name, "top.c");
  const std::string text = diff_text(report, time_format(report, 10), {"expected", "actual"}, 5);
  EXPECT_EQ(text.substr(0, text.find('\n')), "cycle 4: top.b_q: expected 1, actual 0");
  EXPECT_NE(text.find("cycle 6: top.c[3:0]: expected 0xa, actual 0xb"), std::string::npos) << text;
}

TEST_F(DiffTest, AShiftIsToldAsOne) {
  a.bits("top.x", 1, kPulse).bits("top.y", 2, changes({{0, "00"}, {45, "10"}, {70, "11"}}));
  b.bits("top.x", 1, kLatePulse).bits("top.y", 2, changes({{0, "00"}, {48, "10"}, {73, "11"}}));
  DiffReport report = compare_files();
  ASSERT_TRUE(report.shift);
  EXPECT_EQ(report.shift->by, 3);
  EXPECT_EQ(report.shift->signals, 2U);
  EXPECT_NE(diff_text(report, time_format(report, 0), {"a", "b"}, 5)
                .find("all differences are a shift: the same changes 3 ns later\n"),
            std::string::npos);
  report = diff(FstFile(b.file), FstFile(a.file), options);
  ASSERT_TRUE(report.shift);
  EXPECT_EQ(report.shift->by, -3);
  EXPECT_EQ(report.shift->signals, 2U);
}

TEST_F(DiffTest, AShiftOfSomeSignalsSaysHowMany) {
  a.bits("top.x", 1, kPulse).bits("top.y", 2, changes({{0, "00"}, {45, "10"}, {70, "11"}}));
  b.bits("top.x", 1, kLatePulse).bits("top.y", 2, changes({{0, "00"}, {48, "10"}, {74, "11"}}));
  const DiffReport report = compare_files();
  ASSERT_TRUE(report.shift);
  EXPECT_EQ(report.shift->signals, 1U);
}

TEST_F(DiffTest, AnOffsetMakesShiftedFilesEqual) {
  a.bits("top.x", 1, kPulse);
  b.bits("top.x", 1, kLatePulse);
  options.offset = 3;
  options.common = true;
  EXPECT_TRUE(compare_files().equal());
}

TEST_F(DiffTest, SignalsOnOneSideAreDifferencesUnlessOnlyCommonOnesCount) {
  a.bits("top.x", 1, kPulse).bits("top.old", 1, kPulse);
  b.bits("top.x", 1, kPulse).bits("top.new", 1, kPulse);
  DiffReport report = compare_files();
  EXPECT_FALSE(report.equal());
  EXPECT_EQ(report.only_a, std::vector<std::string>{"top.old"});
  EXPECT_EQ(report.only_b, std::vector<std::string>{"top.new"});
  options.common = true;
  EXPECT_TRUE(compare_files().equal());
}

TEST_F(DiffTest, OtherWidthsAndKindsAreNotCompared) {
  a.bits("top.x", 8, changes({{0, "00000000"}})).bits("top.y", 1, kPulse);
  b.bits("top.x", 9, changes({{0, "000000000"}})).add({"top.y", "", SignalKind::kReal, 0, 0}, {});
  const DiffReport report = compare_files();
  ASSERT_EQ(report.incompatible.size(), 2U);
  EXPECT_EQ(report.incompatible[0].a, "8 bits");
  EXPECT_EQ(report.incompatible[0].b, "9 bits");
  EXPECT_EQ(report.incompatible[1].b, "real");
  EXPECT_FALSE(report.equal());
}

TEST_F(DiffTest, TimescalesAreBroughtTogether) {
  a.bits("top.x", 1, changes({{0, "0"}, {4, "1"}}));
  b.bits("top.x", 1, changes({{0, "0"}, {4000, "1"}}));
  const DiffReport report = diff(FstFile(a.write(10, -9)), FstFile(b.write(10000, -12)), options);
  EXPECT_TRUE(report.equal());
  EXPECT_EQ(report.timescale, -12);
  EXPECT_EQ(report.to, 10000U);
}

TEST_F(DiffTest, AFileThatEndsEarlierDiffers) {
  a.bits("top.x", 1, kPulse);
  b.bits("top.x", 1, kPulse);
  const DiffReport report = compare_files(100, 90);
  EXPECT_TRUE(report.ends_differ);
  EXPECT_NE(diff_text(report, time_format(report, 0), {"a", "b"}, 5).find("a ends at 100 ns, b at 90 ns"),
            std::string::npos);
  options.to = 90;
  EXPECT_TRUE(compare_files(100, 90).equal());
}

TEST_F(DiffTest, ScopesAreStrippedOnEitherSide) {
  a.bits("TOP.npu.x", 1, kPulse).bits("TOP.tb.y", 1, kPulse);
  b.bits("bench.dut.x", 1, kPulse);
  options.strip_a = "TOP.npu.";
  options.strip_b = "bench.dut.";
  const DiffReport report = compare_files();
  EXPECT_TRUE(report.equal());
  EXPECT_EQ(report.compared, 1U);
}

TEST_F(DiffTest, AClockComparesWhatRegistersSee) {
  const ChangeList clock = changes({{0, "0"}, {10, "1"}, {15, "0"}, {20, "1"}, {25, "0"}, {30, "1"}});
  const ChangeList other = changes({{0, "0"}, {30, "1"}, {45, "0"}, {60, "1"}, {75, "0"}, {90, "1"}});
  a.bits("top.clk", 1, clock).bits("top.x", 1, changes({{0, "0"}, {11, "1"}, {21, "0"}}));
  b.bits("top.clk", 1, other).bits("top.x", 1, changes({{0, "0"}, {31, "0"}, {33, "1"}, {61, "1"}, {62, "0"}}));
  options.clock = "top.clk";
  DiffReport report = compare_files();
  EXPECT_TRUE(report.equal());
  EXPECT_EQ(report.to, 2U);
  options.filter.include("top.x");
  TemporaryFst c("diff_c");
  c.bits("top.clk", 1, other).bits("top.x", 1, changes({{0, "0"}, {61, "1"}}));
  report = diff(FstFile(a.file), FstFile(c.write(100)), options);
  ASSERT_EQ(report.differing.size(), 1U);
  EXPECT_EQ(first_difference(report.differing[0], time_format(report, 7), {"a", "b"}), "edge 1: top.x: a 1, b 0");
}

TEST_F(DiffTest, RealsAndStringsAreCompared) {
  const auto real = [](double value) { return std::string(reinterpret_cast<const char *>(&value), sizeof value); };
  const auto fill = [&](TemporaryFst &file, double number, const char *text) {
    ChangeList reals, strings;
    reals.append(0, real(1.5));
    reals.append(10, real(number));
    strings.append(0, "idle");
    strings.append(20, text);
    file.add({"top.r", "", SignalKind::kReal, 0, 0}, reals).add({"top.s", "", SignalKind::kString, 0, 0}, strings);
  };
  fill(a, 2.5, "run");
  fill(b, 2.75, "running");
  const DiffReport report = compare_files();
  ASSERT_EQ(report.differing.size(), 2U);
  const TimeFormat time = time_format(report, 0);
  EXPECT_EQ(first_difference(report.differing[0], time, {"a", "b"}), "10 ns: top.r: a 2.5, b 2.75");
  EXPECT_EQ(first_difference(report.differing[1], time, {"a", "b"}), "20 ns: top.s: a \"run\", b \"running\"");
}

TEST_F(DiffTest, OfWideVectorsOnlyTheDigitsThatDifferAreTold) {
  std::string zeros(70, '0'), few = zeros;
  few[70 - 1 - 9] = few[70 - 1 - 14] = '1';
  ChangeList list_a, list_b;
  list_a.append(0, zeros);
  list_b.append(0, few);
  a.bits("top.x", 70, list_a);
  b.bits("top.x", 70, list_b);
  DiffReport report = compare_files();
  ASSERT_EQ(report.differing.size(), 1U);
  EXPECT_EQ(first_difference(report.differing.at(0), time_format(report, 0), {"a", "b"}),
            "0 ns: top.x[69:0] bits 15:8: a 0x00, b 0x42");
  report.differing[0].difference.b[0] = '1';
  EXPECT_EQ(first_difference(report.differing[0], time_format(report, 0), {"a", "b"}),
            "0 ns: top.x[69:0] bits 69:8: a 0x0000000000000000, b 0x2000000000000042")
      << "the first digit has two bits";
}

TEST_F(DiffTest, OptionsThatFitNothingAreErrors) {
  a.bits("top.x", 1, kPulse);
  b.bits("top.x", 1, kPulse);
  options.from = 1000;
  EXPECT_NE(problem().find("nothing to compare"), std::string::npos) << problem();
  options = {};
  options.filter.include("*.nothing");
  EXPECT_NE(problem().find("no signal is in both files (0 chosen of"), std::string::npos) << problem();
  options = {};
  options.clock = "top.clk";
  EXPECT_NE(problem().find("has no signal top.clk to be the clock"), std::string::npos) << problem();
}

TEST_F(DiffTest, TheJsonHoldsTheSame) {
  a.bits("top.x", 4, changes({{0, "0000"}, {40, "1010"}}));
  b.bits("top.x", 4, changes({{0, "0000"}, {43, "1010"}}));
  const DiffReport report = compare_files();
  const auto json = nlohmann::json::parse(diff_json(report, "a.fst", "b.fst", 0));
  EXPECT_EQ(json["equal"], false);
  EXPECT_EQ(json["differing"][0]["signal"], "top.x");
  EXPECT_EQ(json["differing"][0]["first"], 40);
  EXPECT_EQ(json["differing"][0]["a"], "0xa");
  EXPECT_EQ(json["shift"]["by"], 3);
}

} // namespace
} // namespace gradweave::wave
