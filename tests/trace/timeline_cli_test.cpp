// gradweave timeline: from streams and timing traces to a file for the viewer.
#include "tests/cli/command_line.hpp"
#include "tests/trace/timeline_format.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace gradweave {
namespace {

class TimelineCommand : public test::CommandLineTest {
protected:
  /// Two layers, compiled, and their times by the model in one trace: all.csv.
  void make_layers() const {
    write("net.csv", "name,M,K,N\nfirst,40,30,20\nsecond,20,50,10\n");
    ASSERT_EQ(run({"compile", "--model", "net.csv", "--npu", "test8", "--out", "."}).code, 0);
    for (const char *layer : {"first", "second"})
      ASSERT_EQ(run({"cosim", "--model", "net.csv", "--npu", "test8", "--backend", "timing", "--layers", layer,
                     "--times", std::string(layer) + ".csv"})
                    .code,
                0);
    const std::string first = test::read_file(work() / "first.csv"), second = test::read_file(work() / "second.csv");
    write("all.csv", first + second.substr(second.find('\n') + 1));
  }
  std::vector<std::string> arguments(const std::vector<std::string> &more) const {
    std::vector<std::string> all{"timeline", "0-first.gws", "1-second.gws", "--npu", "test8", "--out", "t.json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void expect_error(const std::vector<std::string> &arguments, int code, const std::string &text) const {
    const test::CommandResult result = run(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
    EXPECT_FALSE(std::filesystem::exists(work() / "t.json"));
  }
};

TEST_F(TimelineCommand, DrawsBothSourcesAndAllLayers) {
  make_layers();
  const test::CommandResult result = run(arguments({"--rtl", "all.csv", "--model", "all.csv"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out + result.err, "");
  const test::Trace trace = test::read_timeline(test::read_file(work() / "t.json"));
  EXPECT_EQ(trace.problems, std::vector<std::string>{});
  ASSERT_EQ(trace.processes.size(), 2U);
  for (const auto &[name, process] : trace.processes) {
    const auto &layers = process.rows.at("layers");
    ASSERT_EQ(layers.size(), 2U) << name;
    EXPECT_EQ(layers[0].name, "first");
    EXPECT_EQ(layers[1].name, "second");
    EXPECT_EQ(layers[1].begin, layers[0].end);
    EXPECT_EQ(process.rows.at("load/1").at(0).name.substr(0, 11), "LOAD first ");
  }
}

/// A depthwise layer: the vector unit is an engine like the others.
TEST_F(TimelineCommand, DrawsTheVectorUnit) {
  const test::CommandResult result = run({"simulate", "--model", "mobilenet", "--npu", "large", "--batch", "1",
                                          "--layers", "1", "--pass", "forward", "--timeline", "t.json", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  const test::Trace trace = test::read_timeline(test::read_file(work() / "t.json"));
  EXPECT_EQ(trace.problems, std::vector<std::string>{});
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes.begin()->second.rows.count("vector/1"), 1U);
  EXPECT_EQ(trace.processes.begin()->second.rows.count("array/1"), 0U);
}

TEST_F(TimelineCommand, RefusesATraceOfOtherStreams) {
  make_layers();
  expect_error(arguments({"--rtl", "first.csv"}), 3, "first.csv: has 1 streams, but 2 are given");
  expect_error({"timeline", "1-second.gws", "--rtl", "first.csv", "--npu", "test8", "-o", "t.json"}, 3,
               "commands where");
}

TEST_F(TimelineCommand, RefusesTimesThatTheStreamForbids) {
  make_layers();
  std::string trace = test::read_file(work() / "first.csv");
  const std::size_t gemm = trace.find(",GEMM,"), line = trace.rfind('\n', gemm) + 1;
  const std::string index = trace.substr(line, trace.find(',', line) - line);
  // The first product starts one cycle after its issue, before its operands are loaded.
  const std::size_t done = trace.rfind(',', trace.find('\n', gemm)), start = trace.rfind(',', done - 1),
                    issue = trace.rfind(',', start - 1);
  const std::uint64_t issued = std::stoull(trace.substr(issue + 1));
  trace.replace(start + 1, done - start - 1, std::to_string(issued + 1));
  write("bad.csv", trace);
  expect_error({"timeline", "0-first.gws", "--rtl", "bad.csv", "--npu", "test8", "-o", "t.json"}, 3,
               "bad.csv: first, command " + index + ": starts in cycle " + std::to_string(issued + 1) + " and takes");
}

TEST_F(TimelineCommand, NeedsTimes) {
  make_layers();
  expect_error(arguments({}), 2, "give --rtl, --model or both");
  expect_error(arguments({"--rtl", "none.csv"}), 3, "none.csv: no such file; check the name of the command trace");
}

/// --timeline of the commands that run layers.
class TimelineOption : public TimelineCommand {
protected:
  TimelineOption() { write("net.csv", "name,M,K,N\nfirst,40,30,20\nsecond,20,50,10\n"); }

  test::CommandResult with_timeline(const std::string &command, const std::string &file,
                                    const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all{command, "--model", "net.csv", "--npu", "test8", "--quiet", "--timeline", file};
    if (command == "cosim") all.insert(all.end(), {"--backend", "timing"});
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  test::Trace read(const std::string &file) const {
    test::Trace trace = test::read_timeline(test::read_file(work() / file));
    EXPECT_EQ(trace.problems, std::vector<std::string>{});
    return trace;
  }
};

TEST_F(TimelineOption, OfSimulateDrawsAllLayersInOneFile) {
  const test::CommandResult result = with_timeline("simulate", "t.json", {"--times", "t.csv"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("timeline   t.json"), std::string::npos) << result.out;
  const test::Trace drawn = read("t.json");
  const test::TraceProcess &model = drawn.processes.at("timing model: net on test8, rearrange");
  ASSERT_EQ(model.rows.at("layers").size(), 2U);
  EXPECT_EQ(model.rows.at("layers")[1].begin, model.rows.at("layers")[0].end);

  // The same as from the timing traces.
  ASSERT_EQ(run({"compile", "--model", "net.csv", "--npu", "test8", "--out", "."}).code, 0);
  ASSERT_EQ(run({"timeline", "0-first.gws", "1-second.gws", "--model", "t.csv", "--npu", "test8", "-o", "u.json"}).code,
            0);
  const test::Trace redrawn = read("u.json");
  for (const auto &[name, row] : redrawn.processes.at("timing model: NPU test8").rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(row[i].name, model.rows.at(name).at(i).name);
      EXPECT_EQ(row[i].args, model.rows.at(name).at(i).args);
    }
}

/// Whichever layer ends first: the second is the longer one, and so runs first.
TEST_F(TimelineOption, OfCosimDrawsAllLayersInOneFileAsSimulateDoes) {
  write("net.csv", "name,M,K,N\nfirst,20,30,20\nsecond,90,50,40\n");
  ASSERT_EQ(with_timeline("simulate", "model.json", {"--times", "model.csv"}).code, 0);
  ASSERT_EQ(with_timeline("cosim", "t.json", {"--times", "t.csv"}).code, 0);
  EXPECT_EQ(test::read_file(work() / "t.csv"), test::read_file(work() / "model.csv"));
  EXPECT_EQ(test::read_file(work() / "t.json"), test::read_file(work() / "model.json"));
}

TEST_F(TimelineOption, OfADirectoryMakesAFileForEachLayerAndSchedule) {
  for (const char *command : {"simulate", "cosim"}) {
    const std::string directory = std::string(command) + "/";
    const test::CommandResult result = with_timeline(command, directory, {"--schedule", "all"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char *name : {"net-test8-0-first-interleave.json", "net-test8-1-second-rearrange.json"})
      EXPECT_EQ(read(directory + name).processes.size(), 1U) << directory << name;
  }
}

TEST_F(TimelineOption, OfOneFileTakesOneSchedule) {
  for (const char *command : {"simulate", "cosim"}) {
    const test::CommandResult several = with_timeline(command, "t.json", {"--schedule", "all"});
    EXPECT_EQ(several.code, 2);
    EXPECT_NE(several.err.find("--timeline t.json: a file holds one schedule"), std::string::npos) << several.err;
  }
  const test::CommandResult result = run({"cosim", "--model", "net.csv", "--npu", "test8", "--layers", "0",
                                          "--timeline", "t.json", "--backend", "functional"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--timeline: the functional backend has no time"), std::string::npos) << result.err;
  EXPECT_EQ(files(), std::vector<std::string>{"net.csv"});
}

TEST_F(TimelineOption, GoesToStandardOutputAlone) {
  const test::CommandResult result = with_timeline("simulate", "-");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(test::read_timeline(result.out).problems, std::vector<std::string>{});
  const test::CommandResult both = with_timeline("simulate", "-", {"--times", "-"});
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("--times and --timeline cannot both go to standard output"), std::string::npos) << both.err;
}

TEST_F(TimelineOption, ShowsTheCommandThatWaitsForEverInAStoppedRun) {
  write("stuck.txt", "LOAD bf16 dram=0x0 pitch=16 rows=4 cols=4 spm=0\n"
                     "STORE bf16 dram=0x0 pitch=16 rows=4 cols=4 spm=0 wait=5:1\n");
  const test::CommandResult result = run({"simulate", "stuck.txt", "--npu", "test8", "--timeline", "t.json"});
  EXPECT_EQ(result.code, 4) << result.err;
  const test::Trace trace = read("t.json");
  ASSERT_EQ(trace.processes.size(), 1U);
  const test::TraceProcess &model = trace.processes.begin()->second;
  const test::TraceSlice &wait = model.rows.at("store/queue").at(0);
  EXPECT_EQ(wait.name, "semaphore 5");
  EXPECT_EQ(wait.end, model.rows.at("layers").at(0).end) << "until the watchdog ended the run";
  EXPECT_GT(wait.end, 65536U);
}

TEST_F(TimelineCommand, SaysWhenTheOutputCannotBeWritten) {
  make_layers();
  const test::CommandResult result =
      run({"timeline", "0-first.gws", "--rtl", "first.csv", "--npu", "test8", "-o", "no/such/t.json"});
  EXPECT_EQ(result.code, 5) << result.err;
}

} // namespace
} // namespace gradweave
