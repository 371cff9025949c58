// The rooms of the source tree keep the floors that docs/architecture.md gives them.
#include "tests/house/include_graph.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;

Floors floors_of_the_page() {
  std::ifstream in("docs/architecture.md");
  std::ostringstream text;
  text << in.rdbuf();
  return read_floors(text.str());
}

TEST(House, ArrowsPointDown) {
  for (const std::string &problem : broken_rules(".", floors_of_the_page()))
    ADD_FAILURE() << problem;
}

/// A tree of two floors that keeps the rules.
class SmallHouse : public testing::Test {
protected:
  SmallHouse() {
    write("low/noun.hpp", "");
    write("high/verb.hpp", "#include \"low/noun.hpp\"\n#include <vector>\n#include \"generated.hpp\"\n");
    write("high/verb.cpp", "#include \"high/verb.hpp\"\n");
  }

  void write(const std::string &file, const std::string &text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::vector<std::string> problems() const { return broken_rules(root_, floors_); }

  Floors floors_{{"low", 1}, {"high", 2}};

private:
  const ScratchDirectory scratch_;
  const fs::path root_ = scratch_.path();
};

TEST_F(SmallHouse, KeepsTheRules) { EXPECT_EQ(problems(), std::vector<std::string>{}); }

TEST_F(SmallHouse, AnIncludeThatClimbsIsSeen) {
  write("low/noun.hpp", "#include \"high/other.hpp\"\n");
  write("high/other.hpp", "");
  EXPECT_EQ(problems(),
            std::vector<std::string>{
                "low/noun.hpp: includes high/other.hpp, but `high` (floor 2) is not below `low` (floor 1)"});
}

TEST_F(SmallHouse, RoomsOfAFloorDoNotKnowEachOther) {
  floors_["low"] = 2;
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "high/verb.hpp: includes low/noun.hpp, but `low` (floor 2) is not below `high` (floor 2)"});
}

TEST_F(SmallHouse, ACircleOfUnitsIsSeen) {
  write("high/noun.hpp", "");
  write("high/noun.cpp", "#include \"high/noun.hpp\"\n#include \"high/verb.hpp\"\n");
  write("high/verb.cpp", "#include \"high/verb.hpp\"\n#include \"high/noun.hpp\"\n");
  EXPECT_EQ(problems(), std::vector<std::string>{"circle: high/noun -> high/verb -> high/noun"});
}

TEST_F(SmallHouse, ASourceOutsideOfAllRoomsIsSeen) {
  floors_ = {{"low", 1}, {"high/inner", 2}};
  write("high/inner/a.hpp", "");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{"high/verb.cpp: stands in no room", "high/verb.hpp: stands in no room"}));
}

TEST_F(SmallHouse, AnEmptyRoomIsSeen) {
  floors_["attic"] = 3;
  EXPECT_EQ(problems(), std::vector<std::string>{"attic: no source stands in this room"});
}

TEST(FloorsOfAPage, AreReadFromItsTable) {
  EXPECT_EQ(
      read_floors(
          "text\n\n| floor | rooms | what |\n|---|---|---|\n| 2 | `a`, `b/c` | x |\n| 1 | `d` | `e` |\n\n| 3 | `f` |"),
      (Floors{{"a", 2}, {"b/c", 2}, {"d", 1}}));
  EXPECT_THROW(read_floors("| a | b |\n"), std::runtime_error);
  EXPECT_THROW(read_floors("| floor | rooms |\n|---|---|\n| 1 | `a`, `a` |\n"), std::runtime_error);
  EXPECT_THROW(read_floors("| floor | rooms |\n|---|---|\n| 1 | `a |\n"), std::runtime_error);
  EXPECT_THROW(read_floors("| floor | rooms |\n|---|---|\n| x | `a` |\n"), std::invalid_argument);
}

} // namespace
} // namespace gradweave::test
