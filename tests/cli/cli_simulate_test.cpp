// gradweave simulate: tables, reports, traces and streams agree with each other and with cosim on the same backend.
#include "tests/cli/command_line.hpp"

#include "trace/command_trace.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class CliSimulate : public CommandLineTest {
protected:
  CommandResult simulate(const std::vector<std::string> &more) const {
    std::vector<std::string> arguments{"simulate", "--model", write("t.csv", kLayers), "--npu", "test8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  Json report(const std::string &file) const { return Json::parse(read_file(work() / file)); }
};

void expect_parts(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
}

TEST_F(CliSimulate, ShowsCyclesWhatTheyWentIntoAndTheCost) {
  const CommandResult r = simulate({});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  expect_parts(r.out, {"0 a", "20x30x40", "2 c", "total", "array, % of cycles", "shadow", "compiled", "of CPU time",
                       "cycles/s", "commands", "memory", "B at most", "no data", "reproduce", "PASS"});
}

TEST_F(CliSimulate, AgreesWithCosimOnTheTimingBackend) {
  ASSERT_EQ(simulate({"--schedule", "all", "--pass", "both", "--json", "s.json"}).code, 0);
  ASSERT_EQ(run({"cosim", "--model", "t.csv", "--npu", "test8", "--backend", "timing", "--schedule", "all", "--pass",
                 "both", "--json", "c.json"})
                .code,
            0);
  const Json simulated = report("s.json");
  const Json cosimulated = report("c.json");
  EXPECT_EQ(simulated.at("data"), "none");
  EXPECT_GT(simulated.at("peak_memory_bytes"), 0);
  ASSERT_EQ(simulated.at("layers").size(), 18U);
  for (std::size_t i = 0; i < 18; ++i) {
    EXPECT_GT(simulated.at("layers")[i].at("cycles"), 0);
    for (const char *field : {"name", "schedule", "chosen_schedule", "cycles", "counters", "dram", "commands"})
      EXPECT_EQ(simulated.at("layers")[i].at(field), cosimulated.at("layers")[i].at(field)) << i << field;
    EXPECT_TRUE(simulated.at("layers")[i].at("outputs").empty());
  }
  ASSERT_EQ(simulated.at("totals").size(), 6U);
  for (const Json &total : simulated.at("totals"))
    for (const char *field : {"compile_seconds", "cpu_seconds", "cycles_per_cpu_second", "dram_utilisation"})
      EXPECT_GT(total.at(field), 0) << field;
}

/// Of a memory that charges for less than a beat of the bus.
TEST_F(CliSimulate, NoMemoryIsInUseForMoreThanAllOfTheTime) {
  ASSERT_EQ(run({"simulate", "--model", write("t.csv", "a,9,300,20\n"), "--npu", "large2", "--json", "s.json"}).code,
            0);
  const Json total = report("s.json").at("totals")[0];
  EXPECT_GT(total.at("dram_utilisation"), 0);
  EXPECT_LE(total.at("dram_utilisation"), 1);
}

TEST_F(CliSimulate, CosimSaysThatNoDataWereChecked) {
  const CommandResult r = run({"cosim", "--model", write("t.csv", kLayers), "--npu", "test8", "--backend", "timing"});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  expect_parts(r.out, {"no data", " -     -", "all results (the timing model has no data)", "PASS"});
  EXPECT_EQ(r.out.find(" ok "), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("every bit"), std::string::npos) << r.out;
}

TEST_F(CliSimulate, WritesTheTimesOfAllLayersIntoOneFile) {
  ASSERT_EQ(simulate({"--times", "all.csv", "--json", "s.json"}).code, 0);
  const auto commands = runtime::read_command_trace(work() / "all.csv");
  const Json layers = report("s.json").at("layers");
  std::size_t at = 0;
  for (const Json &layer : layers) {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < layer.at("commands"); ++i, ++at) {
      ASSERT_LT(at, commands.size());
      EXPECT_EQ(commands[at].index, i);
      EXPECT_EQ(commands[at].label.layer, layer.at("name"));
      last = std::max(last, commands[at].times.done);
    }
    EXPECT_EQ(layer.at("cycles"), last + 1);
  }
  EXPECT_EQ(at, commands.size());
  EXPECT_EQ(layers.back().at("times"), "all.csv");
}

TEST_F(CliSimulate, WritesAFileForEachLayerAndScheduleAsCosimDoes) {
  ASSERT_EQ(simulate({"--times", "s/", "--schedule", "all"}).code, 0);
  const CommandResult r =
      run({"cosim", "--model", "t.csv", "--npu", "test8", "--backend", "timing", "--schedule", "all", "--times", "c/"});
  ASSERT_EQ(r.code, 0) << r.out << r.err;
  std::size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(work() / "s")) {
    EXPECT_EQ(read_file(entry.path()), read_file(work() / "c" / entry.path().filename())) << entry.path();
    EXPECT_FALSE(runtime::read_command_trace(entry.path()).empty());
    ++files;
  }
  EXPECT_EQ(files, 18U);
}

TEST_F(CliSimulate, StreamFilesTakeTheCyclesOfTheirLayers) {
  ASSERT_EQ(simulate({"--json", "s.json"}).code, 0);
  ASSERT_EQ(run({"compile", "--model", "t.csv", "--npu", "test8", "--out", "streams", "--listing"}).code, 0);
  const Json layers = report("s.json").at("layers");
  const std::vector<std::string> stems{"0-a", "1-b", "2-c"};
  for (std::size_t i = 0; i < stems.size(); ++i)
    for (const char *extension : {".gws", ".lst"}) {
      const CommandResult r =
          run({"simulate", "streams/" + stems[i] + extension, "--npu", "test8", "--json", "-", "--times", "t"});
      ASSERT_EQ(r.code, 0) << r.out << r.err;
      const Json stream = Json::parse(r.out);
      EXPECT_EQ(stream.at("stream"), "streams/" + stems[i] + extension);
      for (const char *field : {"cycles", "commands", "macs", "counters"})
        EXPECT_EQ(stream.at("layers")[0].at(field), layers[i].at(field)) << stems[i] << field;
      EXPECT_FALSE(stream.at("layers")[0].contains("schedule"));
      EXPECT_EQ(runtime::read_command_trace(work() / "t").size(), layers[i].at("commands"));
      expect_parts(r.err, {stems[i], "PASS"});
    }
}

TEST_F(CliSimulate, AStreamThatTheHardwareStopsIsADeviceError) {
  write("bad.txt", "SYNC engine=load\nLOAD bf16 dram=0 rows=1 cols=1 spm=8388607\n");
  const CommandResult r = run({"simulate", "bad.txt", "--npu", "test8", "--times", "-"});
  EXPECT_EQ(r.code, 4);
  expect_parts(r.err, {"stream bad: the NPU stopped with SPM_RANGE at command 1", "FAIL"});
  // A program of a tile that nothing describes.
  write("fault.txt", "PROGRAM at=7 words=0x0000000000000101,0x0000000000000021,0x0000000000000000\n"
                     "VECTOR first=7 elements=3 steps=2\n");
  const CommandResult fault = run({"simulate", "fault.txt", "--npu", "test8v2"});
  EXPECT_EQ(fault.code, 4);
  expect_parts(fault.out, {"stream fault: the NPU stopped with VECTOR_FAULT (TILE in word 8 of the program memory) at "
                           "command 1: VECTOR first=7"});
  expect_parts(r.out, {"1,load,LOAD,bad,1x1 bf16 dram=0x0 spm=8388607,,,\n"});
}

TEST_F(CliSimulate, RefusesWhatDoesNotGoTogether) {
  write("good.txt", "SYNC engine=load\n");
  write("empty.txt", "# nothing\n");
  write("fake.gws", "SYNC engine=load\n");
  write("broken.txt", "JUMP 3\n");
  struct Refusal {
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> message;
  };
  for (const Refusal &c :
       {Refusal{{"good.txt", "--npu", "test8", "--schedule", "all"}, 2, {"--schedule"}},
        Refusal{{"good.txt", "--npu", "test8", "--model", "mlp"}, 2, {"--model"}},
        Refusal{{"none.gws", "--npu", "test8"}, 3, {"none.gws", "no such file; check the name of the command stream"}},
        Refusal{{".", "--npu", "test8"}, 3, {"directory"}},
        Refusal{{"empty.txt", "--npu", "test8"}, 3, {"empty.txt", "no commands"}},
        Refusal{{"fake.gws", "--npu", "test8"}, 3, {"fake.gws", "no command stream"}},
        Refusal{{"broken.txt", "--npu", "test8"}, 3, {"broken.txt:1", "JUMP"}},
        Refusal{{"good.txt", "--npu", "nonesuch"}, 3, {"nonesuch"}},
        Refusal{{"--model", "mlp", "--npu", "test8", "--schedule", "all", "--times", "t.csv"},
                2,
                {"--times t.csv", "t.csv/", "--schedule"}},
        Refusal{{"--model", "mlp", "--npu", "test8", "--times", "-", "--json", "-"}, 2, {"--times"}},
        Refusal{{"--model", "mlp", "--npu", "test8", "--times", "none/t.csv"}, 5, {"none/t.csv"}},
        Refusal{{"--model", "mlp", "--npu", "test8", "--json", "none/r.json"}, 5, {"none/r.json"}},
        Refusal{{"--model", "mlp", "--npu", "test8", "--backend", "rtl"}, 2, {"--backend"}}}) {
    std::vector<std::string> arguments{"simulate"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const CommandResult r = run(arguments);
    SCOPED_TRACE(c.arguments.front());
    EXPECT_EQ(r.code, c.code) << r.out << r.err;
    expect_parts(r.err, c.message);
    EXPECT_EQ(files(), (std::vector<std::string>{"broken.txt", "empty.txt", "fake.gws", "good.txt"}));
  }
}

TEST_F(CliSimulate, ALayerThatDoesNotFitIsBadInputAndLeavesNoTrace) {
  write("h.csv", "fine,4,4,4\nhuge,16000000,16000000,16000000\n");
  const CommandResult r = run({"simulate", "--model", "h.csv", "--npu", "test8", "--times", "t.csv"});
  EXPECT_EQ(r.code, 3);
  expect_parts(r.out, {"huge", "FAIL"});
  EXPECT_EQ(files(), std::vector<std::string>{"h.csv"});
}

} // namespace
} // namespace gradweave::test
