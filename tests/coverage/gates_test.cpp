// Each gate turns red for what it is there for: a point, bit or bin that is missed, and a list or waiver that is stale.
#include "tests/coverage/gates.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace gradweave::coverage {
namespace {

class CoverageGates : public testing::Test {
protected:
  CoverageGates() { std::filesystem::create_directory(directory_ / "rtl"); }

  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(directory_ / name) << text;
    return (directory_ / name).string();
  }
  /// A point of Verilator's file.
  std::string point(const std::string &page, unsigned line, const std::string &what, unsigned count) const {
    return "C '\1f\2" + (directory_ / "rtl/x.sv").string() + "\1l\2" + std::to_string(line) + "\1n\2" + "3\1page\2" +
           page + "/x\1o\2" + what + "\1h\2TOP.npu.u_x' " + std::to_string(count) + "\n";
  }
  RtlPoints read(const std::string &points) {
    write("rtl/x.sv", "  first\n  second\n");
    return read_rtl_points({write("a.dat", "# SystemC::Coverage-3\n" + points)}, directory_.string());
  }
  std::string message(const std::function<void()> &act) {
    try {
      act();
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "no error";
  }
  BinList bins(const std::string &hits) {
    BinList list =
        load_bins(write("bins.toml", "[[group]]\nname = 'g'\ndoc = 'd'\ncrosses = [[['a', 'b'], ['0', '1']]]\n"
                                     "[[group.exclude]]\nbins = 'g\\.b\\.1'\nreason = 'r'\n"));
    unknown_ = add_hits(list, "s", {write("hits.bins", hits)});
    return list;
  }

  const test::ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
  std::vector<std::string> unknown_;
};

constexpr const char *kWaivers = "[[line]]\nfile = 'rtl/x.sv'\nkind = 'else'\ntext = 'second'\nreason = 'r'\n";

TEST_F(CoverageGates, ALineThatNothingHitIsMissed) {
  const RtlPoints points = read(point("v_line", 1, "block", 4) + point("v_branch", 2, "else", 0));
  Waivers none;
  const Gate gate = judge_lines(points, none);
  EXPECT_FALSE(gate.met());
  ASSERT_EQ(gate.missed.size(), 1U);
  EXPECT_EQ(gate.missed[0], "rtl/x.sv:2: else: second");
}

TEST_F(CoverageGates, AWaiverServesForALineThatNothingHit) {
  Waivers waivers = load_waivers(write("w.toml", kWaivers));
  EXPECT_TRUE(judge_lines(read(point("v_line", 1, "block", 4) + point("v_branch", 2, "else", 0)), waivers).met());
}

TEST_F(CoverageGates, AWaiverOfACoveredLineIsADefect) {
  Waivers waivers = load_waivers(write("w.toml", kWaivers));
  const Gate gate = judge_lines(read(point("v_branch", 2, "else", 1)), waivers);
  EXPECT_FALSE(gate.met());
  ASSERT_EQ(gate.defects.size(), 1U);
  EXPECT_EQ(gate.defects[0], "waiver of rtl/x.sv: else: 'second' is covered; remove it");
}

TEST_F(CoverageGates, AWaiverOfNoLineIsADefect) {
  Waivers waivers = load_waivers(write("w.toml", kWaivers));
  const Gate gate = judge_lines(read(point("v_line", 1, "block", 1)), waivers);
  EXPECT_FALSE(gate.met());
  ASSERT_EQ(gate.defects.size(), 1U);
  EXPECT_NE(gate.defects[0].find("matches no line"), std::string::npos);
}

TEST_F(CoverageGates, CountsOfInstancesAndFilesAdd) {
  const RtlPoints points = read(point("v_line", 1, "block", 4) + point("v_line", 1, "block", 3));
  ASSERT_EQ(points.lines.size(), 1U);
  EXPECT_EQ(points.lines[0].count, 7U);
  EXPECT_EQ(points.lines[0].text, "first");
}

TEST_F(CoverageGates, BitsThatDoNotToggleAreMissedUnlessARuleExplainsThem) {
  std::string text;
  for (int i = 0; i < 19; ++i)
    text += point("v_toggle", 1, "a[" + std::to_string(i) + "]", 1);
  const RtlPoints points = read(text + point("v_toggle", 1, "b[1]", 0));
  Waivers none;
  const Gate bare = judge_toggles(points, none, nullptr);
  EXPECT_DOUBLE_EQ(bare.percent(), 95);
  EXPECT_FALSE(bare.met()); // it has to be more
  ASSERT_EQ(bare.missed.size(), 1U);
  EXPECT_EQ(bare.missed[0], "rtl/x.sv: npu.u_x.b[1]");
  Waivers waivers = load_waivers(write("w.toml", "[[constant]]\nsignals = 'npu\\.u_x\\.b.*'\nreason = 'r'\n"));
  const Gate explained = judge_toggles(points, waivers, nullptr);
  EXPECT_TRUE(explained.met());
  EXPECT_EQ(explained.total, 19U);
}

TEST_F(CoverageGates, AToggleRuleThatNoBitNeedsIsADefect) {
  Waivers waivers = load_waivers(write("w.toml", "[[constant]]\nsignals = 'npu\\.u_x\\.a'\nreason = 'r'\n"));
  EXPECT_FALSE(judge_toggles(read(point("v_toggle", 1, "a", 5)), waivers, nullptr).met());
}

TEST_F(CoverageGates, ABinThatNothingHitIsMissed) {
  const Gate gate = judge_bins(bins("3 g.a.0\n1 g.b.0\n"), unknown_);
  EXPECT_FALSE(gate.met());
  EXPECT_EQ(gate.missed, std::vector<std::string>{"g.a.1"});
  EXPECT_TRUE(judge_bins(bins("3 g.a.0\n1 g.a.1\n1 g.b.0\n"), unknown_).met());
}

TEST_F(CoverageGates, AnExcludedBinThatIsHitIsADefect) {
  EXPECT_FALSE(judge_bins(bins("3 g.a.0\n1 g.a.1\n1 g.b.0\n1 g.b.1\n"), unknown_).met());
}

TEST_F(CoverageGates, AHitThatIsNotListedIsADefect) {
  const BinList list = bins("3 g.a.0\n1 g.a.1\n1 g.b.0\n1 g.c.0\n");
  EXPECT_EQ(unknown_, std::vector<std::string>{"g.c.0"});
  EXPECT_FALSE(judge_bins(list, unknown_).met());
}

TEST_F(CoverageGates, NothingMeasuredMeetsNothing) {
  Waivers none;
  EXPECT_FALSE(judge_lines(RtlPoints{}, none).met());
  EXPECT_FALSE(judge_toggles(RtlPoints{}, none, nullptr).met());
}

TEST_F(CoverageGates, FilesThatAreNotWellFormedAreNamed) {
  EXPECT_NE(message([&] { read_rtl_points({write("n.dat", "hello\n")}, "."); }).find("n.dat:1: this is no"),
            std::string::npos);
  EXPECT_NE(message([&] { read("C nonsense\n"); }).find("a.dat:2: no coverage point"), std::string::npos);
  EXPECT_NE(message([&] { bins("x g.a.0\n"); }).find("hits.bins:1: 'x g.a.0'"), std::string::npos);
  EXPECT_NE(message([&] { load_waivers(write("w.toml", "[[line]]\nfile = 'x'\n")); }).find("number 1: 'text'"),
            std::string::npos);
  EXPECT_NE(message([&] {
              load_bins(write("b.toml", "[[group]]\nname = 'g'\ndoc = 'd'\ncrosses = [[['a']]]\n"
                                        "[[group.exclude]]\nbins = 'x'\nreason = 'r'\n"));
            }).find("excludes no bin"),
            std::string::npos);
  EXPECT_NE(message([&] {
              load_bins(write("b.toml", "[[group]]\nname = 'g'\ndoc = 'd'\ncrosses = [[['@x']]]\n"));
            }).find("@x is no axis"),
            std::string::npos);
}

TEST_F(CoverageGates, CxxLinesAreSharedOutByDirectory) {
  std::vector<FileShare> shares;
  const std::string root = directory_.string();
  const std::string info = write(
      "x.info", "SF:" + root + "/isa/a.cpp\nDA:1,5\nDA:2,0\nend_of_record\nSF:/usr/b.hpp\nDA:1,0\nend_of_record\n");
  const Gate gate = judge_cxx(info, root, 40, shares);
  EXPECT_TRUE(gate.met());
  EXPECT_DOUBLE_EQ(gate.percent(), 50);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].file, "isa");
  EXPECT_FALSE(judge_cxx(info, root, 60, shares).met());
}

TEST_F(CoverageGates, TheProjectsListsAreWellFormed) {
  const BinList list = load_bins("tests/coverage/bins.toml");
  EXPECT_GT(list.bins.size(), 500U);
  EXPECT_NO_THROW(load_waivers("tests/coverage/waivers.toml"));
}

} // namespace
} // namespace gradweave::coverage
