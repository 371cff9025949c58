// The libraries of the rooms, and their tests, link only what stands below.
#include "tests/house/link_graph.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gradweave::test {
namespace {

std::string text_of(const std::string &file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

using Problems = std::vector<std::string>;

TEST(Links, PointDown) {
  const LinkGraph graph = read_links(text_of(GW_LINKS));
  ASSERT_GT(graph.targets.size(), 50U);
  for (const std::string &problem : broken_links(graph, read_floors(text_of("docs/architecture.md"))))
    ADD_FAILURE() << problem;
}

/// Three floors, a library each, tests of two of them, and a program.
class SmallBuild : public testing::Test {
protected:
  Target &target(const std::string &name) {
    for (Target &t : graph_.targets)
      if (t.name == name) return t;
    throw std::logic_error(name);
  }
  Problems problems() const { return broken_links(graph_, floors_); }

  Floors floors_{{"low", 1}, {"middle", 2}, {"app/high", 3}};
  LinkGraph graph_ = read_links("flags|INTERFACE_LIBRARY||\n"
                                "low|STATIC_LIBRARY|low/a.cpp;low/sub/b.cpp|flags\n"
                                "middle|STATIC_LIBRARY|middle/a.cpp|low;flags;elsewhere\n"
                                "high|STATIC_LIBRARY|app/high/a.cpp|middle\n"
                                "program|EXECUTABLE|app/high/main.cpp|high\n"
                                "helper|STATIC_LIBRARY|tests/support/a.cpp|low\n"
                                "low_test|EXECUTABLE|tests/low/a.cpp|low\n"
                                "middle_test|EXECUTABLE|tests/middle/a.cpp|middle;low;helper\n"
                                "high_test|EXECUTABLE|tests/high/a.cpp|high;low\n"
                                "whole_test|EXECUTABLE|tests/whole/a.cpp|high\n");
};

TEST_F(SmallBuild, KeepsTheRules) { EXPECT_EQ(problems(), Problems{}); }

TEST_F(SmallBuild, ALibraryThatClimbsIsSeen) {
  target("low").links.push_back("high");
  EXPECT_EQ(problems(), Problems{"low: links high of `app/high` (floor 3), which is not below `low` (floor 1)"});
}

TEST_F(SmallBuild, LibrariesOfAFloorDoNotKnowEachOther) {
  floors_["low"] = 2;
  EXPECT_EQ(problems().size(), 2U); // the library and its tests
  EXPECT_EQ(problems()[0], "middle: links low of `low` (floor 2), which is not below `middle` (floor 2)");
}

TEST_F(SmallBuild, ATestThatClimbsIsSeen) {
  target("low_test").links.push_back("middle");
  EXPECT_EQ(problems(), Problems{"low_test: links middle of `middle` (floor 2), which is not below `low` (floor 1)"});
}

TEST_F(SmallBuild, ATestThatClimbsByWayOfAHelperIsSeen) {
  target("helper").links.push_back("high");
  EXPECT_EQ(problems(),
            Problems{"middle_test: links high of `app/high` (floor 3), which is not below `middle` (floor 2)"});
}

TEST_F(SmallBuild, ATestThatCompilesWhatStandsHigherIsSeen) {
  target("low_test").sources.push_back("middle/b.cpp");
  EXPECT_EQ(problems(), Problems{"low_test: has sources of `middle` (floor 2), which is not below `low` (floor 1)"});
}

TEST_F(SmallBuild, TestsOfADirectoryOfRoomsLinkThese) {
  floors_ = {{"low/a", 1}, {"low/b", 2}, {"low/c", 2}, {"middle", 3}, {"app/high", 4}};
  target("low").sources = {"low/b/a.cpp"};
  graph_.targets.push_back({"low_a", "STATIC_LIBRARY", {"low/a/a.cpp"}, {}});
  graph_.targets.push_back({"low_c", "STATIC_LIBRARY", {"low/c/a.cpp"}, {"low_a"}});
  target("low_test").links = {"low", "low_a", "low_c"};
  EXPECT_EQ(problems(), Problems{});
  target("low_test").links.push_back("middle");
  EXPECT_EQ(problems().size(), 1U);
}

TEST_F(SmallBuild, ARoomThatLinksTestsIsSeen) {
  target("middle").links.push_back("helper");
  EXPECT_EQ(problems(), Problems{"middle: links helper, which belongs to tests"});
}

TEST_F(SmallBuild, ALibraryOfTwoRoomsIsSeen) {
  target("middle").sources.push_back("low/c.cpp");
  EXPECT_EQ(problems()[0], "middle: has sources of `low` and of `middle`");
}

TEST_F(SmallBuild, ARoomWithoutALibraryIsSeen) {
  target("high").type = "EXECUTABLE";
  EXPECT_EQ(problems(), Problems{"app/high: no library is made of this room"});
  graph_.absent = {"app/high"};
  EXPECT_EQ(problems(), Problems{});
}

TEST(LinksOfABuild, AreRead) {
  const LinkGraph graph = read_links("absent|a;b/c\nx|STATIC_LIBRARY|a/x.cpp;a/y.cpp|y;z\ny|EXECUTABLE||\n");
  EXPECT_EQ(graph.absent, (std::set<std::string>{"a", "b/c"}));
  ASSERT_EQ(graph.targets.size(), 2U);
  EXPECT_EQ(graph.targets[0].sources, (std::vector<std::string>{"a/x.cpp", "a/y.cpp"}));
  EXPECT_EQ(graph.targets[0].links, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(graph.targets[1].type, "EXECUTABLE");
  EXPECT_TRUE(graph.targets[1].sources.empty() && graph.targets[1].links.empty());
  EXPECT_THROW(read_links("x|STATIC_LIBRARY|a/x.cpp\n"), std::runtime_error);
}

} // namespace
} // namespace gradweave::test
