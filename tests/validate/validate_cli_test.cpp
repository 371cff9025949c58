// gradweave validate without a simulation: usage, files, comparing traces, what it says if there is no Verilated NPU.
#include "isa/assembler.hpp"
#include "tests/cli/command_line.hpp"
#include "tests/validate/doctored.hpp"
#include "trace/command_trace.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class ValidateCommand : public CommandLineTest {
protected:
  CommandResult validate(std::vector<std::string> more) const {
    more.insert(more.begin(), "validate");
    return run(more);
  }

  /// A trace of the small stream under two layer names.
  std::string trace(const std::string &name, const std::vector<timing::CommandTimes> &times) const {
    std::vector<isa::Command> stream;
    for (const isa::Decoded &d : small_stream())
      stream.push_back(isa::encode(d));
    return write(name, std::string(runtime::command_trace_header()) +
                           runtime::command_trace_rows("one", stream, {}, small_run().times) +
                           runtime::command_trace_rows("two", stream, {}, times));
  }
};

void expect_error(const CommandResult &r, int code, const std::string &message) {
  EXPECT_EQ(r.code, code) << r.out << r.err;
  EXPECT_NE(r.err.find(message), std::string::npos) << "'" << message << "' is not in\n" << r.err;
}

TEST_F(ValidateCommand, WantsExactlyOneMode) {
  expect_error(validate({}), 2, "0 of stream files, --model, --random, --graphs, --corpus and --compare are given");
  expect_error(validate({"--model", "bert_tiny", "--random", "3"}), 2, "2 of stream files");
  expect_error(validate({"--corpus", "quick", "x.gws"}), 2, "2 of stream files");
  expect_error(validate({"--graphs", "3", "--random", "3"}), 2, "2 of stream files");
}

TEST_F(ValidateCommand, BadArgumentsAreNamed) {
  expect_error(validate({"--random", "-1"}), 2, "not a whole number");
  expect_error(validate({"--random", "2", "--profile", "fast"}), 2, "unknown profile 'fast'");
  expect_error(validate({"--random", "2", "--npu", "nosuch"}), 3, "nosuch");
  expect_error(validate({"--random", "2", "--commands", "0"}), 2, "commands");
  expect_error(validate({"--random", "2", "--watchdog", "3", "--npu", "test8"}), 2, "watchdog = 3 cycles");
  expect_error(validate({"--corpus", "some"}), 2, "unknown corpus 'some'; use one of: quick, full");
  expect_error(validate({"--corpus", "quick", "--npu", "large"}), 2, "the quick corpus has nothing for NPU large");
  expect_error(validate({"--model", "nosuch"}), 3, "nosuch");
  expect_error(validate({"--model", "bert_tiny", "--schedule", "random"}), 2, "unknown schedule 'random'");
  expect_error(validate({"--compare", "one.csv"}), 2, "compare");
}

TEST_F(ValidateCommand, BadFilesAreNamed) {
  expect_error(validate({"nosuch.gws"}), 3, "nosuch.gws");
  expect_error(validate({write("text.gws", "not a stream")}), 3, "text.gws");
  expect_error(validate({"--compare", "a.csv", "b.csv"}), 3,
               "a.csv: no such file; check the name of the command trace");
  expect_error(validate({"--compare", write("a.csv", "x\n"), "b.csv"}), 3, "a.csv:1: the first line is not the header");
}

TEST_F(ValidateCommand, OutputsAreCheckedBeforeTheRun) {
  expect_error(validate({"--random", "1", "--npu", "test8", "--json", "no/such/report.json"}), 5, "no/such");
}

TEST_F(ValidateCommand, SaysThatThereIsNoVerilatedNpu) {
  ::setenv("GRADWEAVE_LIB_DIR", work().c_str(), 1);
  const CommandResult r = validate({"--random", "2", "--npu", "test8", "--json", "r.json"});
  ::unsetenv("GRADWEAVE_LIB_DIR");
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(r.out, "");
  for (const char *part : {"NOT RUN", "libgradweave_rtl_test8.so", "`make cosim NPU=test8`"})
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(work() / "r.json"));
}

TEST_F(ValidateCommand, EqualTracesAreEqual) {
  const CommandResult r =
      validate({"--compare", trace("rtl.csv", small_run().times), trace("model.csv", small_run().times)});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("validate: 2 streams, 8 commands compared, 0 differ; 0 counters, 0 differ\n"), std::string::npos)
      << r.out;
}

TEST_F(ValidateCommand, ACycleInATraceIsFound) {
  std::vector<timing::CommandTimes> times = small_run().times;
  ++times[2].start;
  const CommandResult r =
      validate({"--compare", trace("rtl.csv", small_run().times), trace("model.csv", times), "--json", "r.json"});
  EXPECT_EQ(r.code, 1) << r.err;
  for (const char *text :
       {"two: 1 of 4 commands", "start of command #2 GEMM two 8x8x8", "RTL in cycle 121, model in cycle 122",
        "validate: 2 streams (1 differ), 8 commands compared, 1 differ"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << " is not in\n" << r.out;
  const Json report = Json::parse(read_file(work() / "r.json"));
  EXPECT_EQ(report.at("verdict"), "FAIL");
  EXPECT_EQ(report.at("totals").at("commands_differ"), 1);
  EXPECT_EQ(report.at("unequal").size(), 1U);
}

TEST_F(ValidateCommand, TracesOfDifferentStreamsAreRefused) {
  const std::string rtl = trace("rtl.csv", small_run().times);
  const std::string text = read_file(work() / rtl);
  std::string other = text;
  other.replace(other.find("GEMM"), 4, "SYNC");
  expect_error(validate({"--compare", rtl, write("other.csv", other)}), 3, "other.csv:4: command 2 is SYNC");
  expect_error(validate({"--compare", rtl, write("short.csv", text.substr(0, text.rfind('\n', text.size() - 2) + 1))}),
               3, "short.csv: 7 commands, but rtl.csv has 8");
  expect_error(validate({"--compare", write("none.csv", std::string(runtime::command_trace_header())), "none.csv"}), 3,
               "no commands in it");
}

} // namespace
} // namespace gradweave::test
