// gradweave timeline: from streams and timing traces to a file for the viewer.
#include "tests/runtime/command_line.hpp"
#include "tests/runtime/timeline_format.hpp"

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
  expect_error(arguments({"--rtl", "none.csv"}), 3, "none.csv: cannot be read");
}

TEST_F(TimelineCommand, SaysWhenTheOutputCannotBeWritten) {
  make_layers();
  const test::CommandResult result =
      run({"timeline", "0-first.gws", "--rtl", "first.csv", "--npu", "test8", "-o", "no/such/t.json"});
  EXPECT_EQ(result.code, 5) << result.err;
}

} // namespace
} // namespace gradweave
