// gradweave wavediff as a user calls it.
#include "tests/cli/command_line.hpp"
#include "tests/trace/wave/unit.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::wave {
namespace {

class Wavediff : public test::CommandLineTest {
protected:
  Wavediff() {
    a.bits("top.x_q", 1, changes({{0, "0"}, {40, "1"}})).bits("top.y", 4, changes({{0, "000x"}}));
    b.bits("top.x_q", 1, changes({{0, "0"}, {41, "1"}})).bits("top.y", 4, changes({{0, "0001"}}));
    a.write();
    b.write();
  }
  test::CommandResult wavediff(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "wavediff");
    return run(arguments);
  }
  TemporaryFst a{"cli_a"}, b{"cli_b"};
};

TEST_F(Wavediff, EqualIsZeroDifferentIsOne) {
  test::CommandResult r = wavediff({a.file, a.file});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "equal: 2 signals, 0 ns to 100 ns\n");
  r = wavediff({a.file, b.file});
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.out.substr(0, r.out.find('\n')), "0 ns: top.y[3:0]: a b000x, b 0x1");
}

TEST_F(Wavediff, FiltersWindowsOffsetsAndUnknownBits) {
  EXPECT_EQ(wavediff({a.file, b.file, "--signals", "*.y", "--ignore-unknown"}).code, 0);
  EXPECT_EQ(wavediff({a.file, b.file, "--exclude", "*.y", "--to", "39"}).code, 0);
  EXPECT_EQ(wavediff({a.file, b.file, "--exclude", "/y$/", "--offset", "1", "--common"}).code, 0);
  EXPECT_EQ(wavediff({a.file, b.file, "--exclude", "/y$/", "--offset", "-1", "--common"}).code, 1);
  const test::CommandResult r = wavediff({a.file, b.file, "--exclude", "*.y", "--period", "10"});
  EXPECT_EQ(r.out.substr(0, r.out.find('\n')), "cycle 4: top.x_q: a 1, b 0");
}

TEST_F(Wavediff, UsageIsTwo) {
  EXPECT_EQ(wavediff({a.file}).code, 2);
  EXPECT_EQ(wavediff({a.file, b.file, "--signals", "/(/"}).code, 2);
  EXPECT_EQ(wavediff({a.file, b.file, "--signals", "nothing"}).code, 2);
  EXPECT_EQ(wavediff({a.file, b.file, "--json", "-", "--save", "-"}).code, 2);
  EXPECT_EQ(wavediff({a.file, b.file, "--clock", "top.none"}).code, 2);
}

TEST_F(Wavediff, FilesThatCannotBeReadAreThree) {
  EXPECT_EQ(wavediff({a.file, "/nowhere.fst"}).code, 3);
  const std::string whole = test::read_file(a.file);
  const std::string cut = write("cut.fst", whole.substr(0, whole.size() / 2));
  const test::CommandResult r = wavediff({a.file, cut});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("cut.fst: "), std::string::npos) << r.err;
}

TEST_F(Wavediff, WritesJsonAndSaveFile) {
  const test::CommandResult r = wavediff({a.file, b.file, "--json", "-", "--save", "view.gtkw", "--exclude", "*.y"});
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_EQ(nlohmann::json::parse(r.out)["differing"][0]["signal"], "top.x_q");
  const std::string save = test::read_file(work() / "view.gtkw");
  EXPECT_NE(save.find("[dumpfile] \"" + a.file + "\""), std::string::npos) << save;
  EXPECT_NE(save.find(" 40 -1"), std::string::npos) << save;
  EXPECT_EQ(wavediff({a.file, b.file, "--json", "/nowhere/x"}).code, 5);
}

} // namespace
} // namespace gradweave::wave
