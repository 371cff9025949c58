// What the points of a study are.
#include "app/sweep/study.hpp"

#include "sw_models/config/config_error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace gradweave::sweep {
namespace {

Study study_of(const std::string &text) { return parse_study(text, "dir/study.toml", {"model", "npu"}); }

std::vector<std::string> texts(const Study &study) {
  std::vector<std::string> all;
  for (const Point &point : points_of(study))
    all.push_back(to_text(point));
  return all;
}

std::string refusal(const std::string &text) {
  try {
    points_of(study_of(text));
  } catch (const ConfigError &error) {
    return error.what();
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> values(const std::string &text) {
  std::vector<std::string> all;
  for (const auto &value : make_axis("f", {text}, "here").values)
    all.push_back(value.front());
  return all;
}

using Texts = std::vector<std::string>;

TEST(SweepStudy, AGridHasTheLastAxisFastest) {
  EXPECT_EQ(texts(study_of("model = ['a', 'b']\n[set]\n'npu.rows' = [16, 32]\n'npu.cols' = 8")),
            (Texts{"model=a npu.rows=16 npu.cols=8", "model=a npu.rows=32 npu.cols=8", "model=b npu.rows=16 npu.cols=8",
                   "model=b npu.rows=32 npu.cols=8"}));
}

TEST(SweepStudy, AxesKeepTheOrderOfTheFile) {
  EXPECT_EQ(texts(study_of("z = 1\nb = 2\n[set]\nnpu.rows = 3\nmemory.size_bytes = 4")),
            Texts{"z=1 b=2 npu.rows=3 memory.size_bytes=4"});
}

TEST(SweepStudy, FieldsChangeTogether) {
  EXPECT_EQ(texts(study_of("[set]\n'npu.rows,npu.cols' = [16, '8:32']\n")),
            (Texts{"npu.rows=16 npu.cols=16", "npu.rows=8 npu.cols=32"}));
  EXPECT_EQ(texts(study_of("[set.npu]\n'rows,cols' = 16\n")), Texts{"npu.rows=16 npu.cols=16"});
}

TEST(SweepStudy, RangesRise) {
  EXPECT_EQ(values("1..3"), (Texts{"1", "2", "3"}));
  EXPECT_EQ(values("16..60+16"), (Texts{"16", "32", "48"}));
  EXPECT_EQ(values("16..64*2"), (Texts{"16", "32", "64"}));
  EXPECT_EQ(values("5..5"), Texts{"5"});
  EXPECT_EQ(values("18446744073709551614..18446744073709551615"),
            (Texts{"18446744073709551614", "18446744073709551615"}));
  EXPECT_EQ(values("../a.toml"), Texts{"../a.toml"});
  EXPECT_EQ(values("1.5"), Texts{"1.5"});
  for (const char *bad : {"3..1", "1..9+0", "1..9*1", "0..9*2", "0..99999999"})
    EXPECT_THROW(values(bad), std::invalid_argument) << bad;
}

TEST(SweepStudy, AListTakesTheValuesInTurn) {
  EXPECT_EQ(texts(study_of("walk = 'list'\nmodel = ['a', 'b']\nbatch = 4\n[set]\n'npu.rows' = [16, 32]")),
            (Texts{"model=a batch=4 npu.rows=16", "model=b batch=4 npu.rows=32"}));
  EXPECT_EQ(refusal("walk = 'list'\na = [1, 2]\nb = [1, 2, 3]"),
            "a: 2 values beside lists of 3; a list takes as many of each, or one");
}

TEST(SweepStudy, ARandomOneDrawsWithoutPuttingBack) {
  const std::string grid = "[set]\n'a.b' = '1..100'\n'a.c' = '1..100'\n";
  const Study study = study_of("walk = 'random'\npoints = 200\nseed = 3\n" + grid);
  const Texts drawn = texts(study), all = texts(study_of(grid));
  EXPECT_EQ(drawn.size(), 200U);
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), 200U);
  std::size_t at = 0; // in the grid's order
  for (const std::string &text : all)
    if (at < drawn.size() && drawn[at] == text) ++at;
  EXPECT_EQ(at, drawn.size());
  EXPECT_EQ(texts(study), drawn);
  Study other = study;
  other.seed = 4;
  EXPECT_NE(texts(other), drawn);
  other.count = 1'000'000; // more than there are
  EXPECT_EQ(texts(other), all);
}

/// Every point is as likely as another: each of ten is drawn about three times in ten.
TEST(SweepStudy, ARandomOneIsEven) {
  Study study = study_of("walk = 'random'\npoints = 3\n[set]\n'a.b' = '0..9'\n");
  std::vector<int> count(10);
  for (study.seed = 1; study.seed <= 1000; ++study.seed)
    for (const Point &point : points_of(study))
      ++count.at(std::stoul(point.front().value));
  for (const int one : count) {
    EXPECT_GT(one, 240);
    EXPECT_LT(one, 360);
  }
}

TEST(SweepStudy, IsTheSameWhenItIsWrittenAndRead) {
  const Study study =
      study_of("title = \"a \\\"b\\\" \\\\\"\nwalk = 'random'\npoints = 5\nseed = 9\nmodel = 'm'\n[set]\n"
               "'npu.rows,npu.cols' = ['1..4', '8:32']\n'net.x' = [1.5, true, 'q\"r']\n");
  const Study again = study_of(to_toml(study));
  EXPECT_EQ(to_toml(again), to_toml(study));
  EXPECT_EQ(texts(again), texts(study));
  EXPECT_EQ(again.title, "a \"b\" \\");
}

TEST(SweepStudy, PathsAreSeenFromItsDirectory) {
  EXPECT_EQ(texts(study_of("model = ['mlp', 'nets/a.toml', '/b.csv', 'c.onnx']\n[set]\n'net.x' = 'a/b'")),
            (Texts{"model=mlp net.x=a/b", "model=dir/nets/a.toml net.x=a/b", "model=/b.csv net.x=a/b",
                   "model=dir/c.onnx net.x=a/b"}));
}

TEST(SweepStudy, MistakesAreNamed) {
  EXPECT_EQ(refusal("a = 1\na = 2").rfind("dir/study.toml:2: not TOML", 0), 0U);
  EXPECT_EQ(refusal("title = 3\na = 1"), "dir/study.toml:1: title must be text");
  EXPECT_EQ(refusal("walk = 'run'\na = 1"), "dir/study.toml:1: walk must be \"grid\", \"list\" or \"random\"");
  EXPECT_NE(refusal("walk = 'random'\na = 1").find("needs 'points'"), std::string::npos);
  EXPECT_NE(refusal("points = 3\na = 1").find("'points' is of random studies"), std::string::npos);
  EXPECT_EQ(refusal("points = 0\nwalk = 'random'"), "dir/study.toml:1: points must be a whole number from 1");
  EXPECT_EQ(refusal("seed = -1"), "dir/study.toml:1: seed must be a whole number from 0");
  EXPECT_NE(refusal("title = 't'").find("no field has a value"), std::string::npos);
  EXPECT_EQ(refusal("a = []"), "dir/study.toml:1: no value of a; give one or more");
  EXPECT_EQ(refusal("a = [[1]]"), "dir/study.toml:1: a value of a must be text or a number");
  EXPECT_NE(refusal("a = ['x', '']").find("dir/study.toml:1: an empty value of a"), std::string::npos);
  EXPECT_EQ(refusal("'a,b' = ['1:2:3']"),
            "dir/study.toml:1: '1:2:3' has 3 values for the 2 fields a,b; write one for each "
            "with ':' between, or one for all");
  EXPECT_EQ(refusal("a = 1\n'b,a' = 2"), "dir/study.toml:2: a changes with a already; give it in one place");
  EXPECT_EQ(refusal("'a,a' = 2"), "dir/study.toml:1: a is there twice");
  EXPECT_NE(refusal("a = '1..2000'\nb = '1..2000'").find("4000000 points, but at most 1000000"), std::string::npos);
}

TEST(SweepStudy, ALaterAxisOfTheSameFieldsTakesThePlace) {
  Study study = study_of("a = [1, 2]\nb = 3");
  set_axis(study, make_axis("a", {"7"}, "x"), "x");
  EXPECT_EQ(texts(study), Texts{"a=7 b=3"});
}

} // namespace
} // namespace gradweave::sweep
