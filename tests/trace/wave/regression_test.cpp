// The regression around a recorder that only pretends: it copies a waveform that the test has made.
#include "tests/trace/wave/regression.hpp"
#include "tests/trace/wave/unit.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gradweave::wave {
namespace {

namespace fs = std::filesystem;

class Regression : public testing::Test {
protected:
  Regression() {
    fs::remove_all(root);
    for (const char *part : {"streams", "goldens", "configs", "out"})
      fs::create_directories(root / part);
    places = {root / "streams", root / "goldens", root / "configs", root / "signals.txt", root / "bundles.txt", root,
              root / "out"};
    std::ofstream(root / "signals.txt") << "+ *_q\n";
    std::ofstream(root / "bundles.txt") << "";
    std::ofstream(root / "streams/one.txt")
        << "#! npu fake\nLOAD bf16 dram=0x0 rows=1 cols=8 spm=0 pstride=1  # 0: X[0:1]\n";
    recorder("cp " + (root / "run.fst").string() + " $3.fst; cp " + (root / "run.json").string() + " $3.json");
    run(40);
    write_recording({1000, {{10, {{1, 2, 90}}}}, "NONE", ""}, root / "run.json");
    scenario = read_scenario(root / "streams/one.txt");
  }

  void recorder(const std::string &body) const {
    const fs::path file = root / "gw_wave_record_fake";
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  /// What the recorder gives: top.x_q changes in `cycle`, top.data does at random.
  void run(std::uint64_t cycle) const {
    ChangeList x, data;
    x.append(0, "0");
    x.append(cycle * 1000, "1");
    data.append(0, "0000");
    data.append(cycle * 777, "1010");
    write_fst((root / "run.fst").string(),
              {{{"top.x_q", "", SignalKind::kBits, 1, 0}, &x}, {{"top.data", "[3:0]", SignalKind::kBits, 4, 0}, &data}},
              {-12, 100000});
  }
  Outcome result() const { return run_scenario(scenario, places); }
  std::string read(const fs::path &file) const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const test::ScratchDirectory scratch;
  const fs::path root = scratch.path();
  Places places;
  Scenario scenario;
};

TEST_F(Regression, AnEqualRunLeavesNothing) {
  EXPECT_EQ(accept(result(), places), "one: new, 1 signals");
  EXPECT_TRUE(result().equal());
  EXPECT_TRUE(fs::is_empty(places.out));
}

TEST_F(Regression, ADifferenceIsToldInTheFirstLineAndKept) {
  accept(result(), places);
  run(41);
  const std::string text = explain(result(), scenario, places);
  EXPECT_EQ(text.substr(0, text.find('\n')), "one: cycle 40: top.x_q: expected 1, actual 0");
  EXPECT_NE(text.find("in flight: command 0: LOAD"), std::string::npos) << text;
  EXPECT_NE(text.find("tile X[0:1]"), std::string::npos) << text;
  EXPECT_NE(text.find("all differences are a shift: the same changes 1 cycle later"), std::string::npos) << text;
  EXPECT_NE(text.find("gtkwave " + (places.out / "one.gtkw").string()), std::string::npos) << text;
  const std::string save = read(places.out / "one.gtkw");
  EXPECT_NE(save.find("[dumpfile] \"" + fs::absolute(places.out / "one.fst").string() + "\""), std::string::npos)
      << save;
  EXPECT_NE(save.find(" 40000 -1"), std::string::npos) << "the marker\n" << save;
  EXPECT_NE(save.find("@28\ntop.x_q\n"), std::string::npos) << save;
  EXPECT_EQ(FstFile((places.out / "one.fst").string()).signals().size(), 2U)
      << "all signals, not those of goldens only";
}

TEST_F(Regression, AcceptingTellsWhatChanged) {
  accept(result(), places);
  run(41);
  EXPECT_EQ(accept(result(), places),
            "one: changed: 1 of 1 signals differ, 0 gone, 0 new; cycle 40: top.x_q: was 1, is 0");
  EXPECT_TRUE(result().equal());
}

TEST_F(Regression, AMissingGoldenIsADifference) {
  EXPECT_FALSE(result().equal());
  EXPECT_NE(explain(result(), scenario, places).find("one: there is no golden"), std::string::npos);
}

TEST_F(Regression, ARunThatEndsOtherwiseIsOneAndIsNotAccepted) {
  accept(result(), places);
  write_recording({1000, {}, "WATCHDOG at command 0", ""}, root / "run.json");
  EXPECT_NE(explain(result(), scenario, places).find("the run ended in WATCHDOG at command 0, not in NONE"),
            std::string::npos);
  EXPECT_THROW(accept(result(), places), ConfigError);
  write_recording({1000, {}, "", "an assertion"}, root / "run.json");
  EXPECT_NE(explain(result(), scenario, places).find("the run failed: an assertion"), std::string::npos);
  EXPECT_THROW(accept(result(), places), ConfigError);
}

TEST_F(Regression, ARecorderThatFailsIsOne) {
  recorder("echo oops; exit 3");
  EXPECT_NE(explain(result(), scenario, places).find("exit code 3; its messages are in"), std::string::npos);
  EXPECT_EQ(read(places.out / "one.log"), "oops\n");
  fs::remove(root / "gw_wave_record_fake");
  EXPECT_NE(explain(result(), scenario, places).find("exit code 127"), std::string::npos);
}

} // namespace
} // namespace gradweave::wave
