// Choice of signals by name.
#include "sw_models/config/npu_config.hpp"
#include "tests/support/scratch_directory.hpp"
#include "trace/wave/signal_filter.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace gradweave::wave {
namespace {

TEST(Glob, MatchesStarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("*_q", "TOP.npu.valid_q"));
  EXPECT_FALSE(matches_glob("*_q", "TOP.npu.valid_qq"));
  EXPECT_TRUE(matches_glob("a?c", "abc"));
  EXPECT_FALSE(matches_glob("a?c", "ac"));
  EXPECT_TRUE(matches_glob("*.u_*.x", "t.u_a.u_b.x"));
  EXPECT_TRUE(matches_glob("*", ""));
  EXPECT_FALSE(matches_glob("", "x"));
  EXPECT_TRUE(matches_glob("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches_glob("a*b*c", "aXbYbZ"));
}

TEST(Glob, BracketsStandForThemselves) {
  EXPECT_TRUE(matches_glob("gen[0].x", "gen[0].x"));
  EXPECT_FALSE(matches_glob("gen[0].x", "gen0.x"));
}

TEST(SignalFilterTest, WithoutRulesTakesAll) { EXPECT_TRUE(SignalFilter().takes("anything")); }

TEST(SignalFilterTest, TheLastRuleThatMatchesDecides) {
  SignalFilter f;
  f.include("*_q");
  f.exclude("*.data_q");
  f.include("top.special.data_q");
  EXPECT_TRUE(f.takes("top.a_q"));
  EXPECT_FALSE(f.takes("top.data_q"));
  EXPECT_TRUE(f.takes("top.special.data_q"));
  EXPECT_FALSE(f.takes("top.wire"));
}

TEST(SignalFilterTest, ExclusionsAloneLeaveTheRest) {
  SignalFilter f;
  f.exclude("*.clk");
  EXPECT_FALSE(f.takes("top.clk"));
  EXPECT_TRUE(f.takes("top.rst"));
}

TEST(SignalFilterTest, SlashesMakeARegularExpression) {
  SignalFilter f;
  f.include("/^top\\.(a|b)$/");
  EXPECT_TRUE(f.takes("top.a"));
  EXPECT_FALSE(f.takes("top.ab"));
}

TEST(SignalFilterTest, NamesABadPattern) {
  SignalFilter f;
  try {
    f.include("/(/");
    FAIL();
  } catch (const std::invalid_argument &e) {
    EXPECT_NE(std::string(e.what()).find("/(/ is no regular expression"), std::string::npos) << e.what();
  }
  EXPECT_THROW(f.include(""), std::invalid_argument);
}

class RulesFile : public testing::Test {
protected:
  std::string message(const std::string &text) {
    std::ofstream(file) << text;
    try {
      read_signal_filter(file);
    } catch (const ConfigError &e) {
      return e.what();
    }
    return "";
  }
  const std::string file = test::scratch_file("rules.txt");
};

TEST_F(RulesFile, IsReadWithComments) {
  EXPECT_EQ(message("# about\n\n+ *_q # registers\n- *.x_q\n"), "");
  EXPECT_TRUE(read_signal_filter(file).takes("a.y_q"));
  EXPECT_FALSE(read_signal_filter(file).takes("a.x_q"));
}

TEST_F(RulesFile, ErrorsNameTheLine) {
  EXPECT_EQ(message("+ a\n* b\n"), file + ":2: '* b' is no rule; write '+ PATTERN' or '- PATTERN'");
  EXPECT_EQ(message("+ a b\n"), file + ":1: '+ a b' is no rule; write '+ PATTERN' or '- PATTERN'");
  EXPECT_NE(message("+ /(/\n").find(file + ":1: /(/ is no regular expression"), std::string::npos);
  EXPECT_THROW(read_signal_filter("/nowhere"), ConfigError);
}

} // namespace
} // namespace gradweave::wave
