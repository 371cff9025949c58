// Bad input: the message names file, line and remedy, the exit code is the documented one, and nothing is left behind.
#include "tests/cli/command_line.hpp"

namespace gradweave::test {
namespace {

const std::string kNpu = R"([npu]
name = "mine"
rows = 8
cols = 8
cores = 1
spm_bytes = 8192
spm_banks = 4
bus_bytes = 16
clock_ghz = 1.0
queue_depth = 8
semaphores = 64
outstanding = 64

[memory]
size_bytes = 1073741824
bandwidth_gb_s = 8
latency_cycles = 20
turnaround_cycles = 8
batch_bytes = 8192
)";

std::string with(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

struct Case {
  std::string what, file, text;
  std::vector<std::string> arguments; ///< after `cosim --backend functional`; FILE stands for `file`
  int code;
  std::vector<std::string> message; ///< parts that standard error must have
};

std::vector<Case> model_cases() {
  const std::vector<std::string> model{"--model", "./FILE", "--npu", "test8"};
  const std::string layer = "[[layer]]\nname = \"a\"\nm = 4\nk = 4\nn = 4\n";
  return {
      {"missing file",
       "t.toml",
       "\xff",
       {"--model", "./none.toml", "--npu", "test8"},
       3,
       {"none.toml", "no such file"}},
      {"empty toml", "t.toml", "", model, 3, {"t.toml", "no layers"}},
      {"empty csv", "t.csv", "", model, 3, {"t.csv"}},
      {"directory", "t.toml", "", {"--model", "./", "--npu", "test8"}, 3, {"./"}},
      {"unknown key", "t.toml", layer + "stride = 2\n", model, 3, {"t.toml:6", "stride", "known keys"}},
      {"zero", "t.toml", with(layer, "m = 4", "m = 0"), model, 3, {"t.toml:3", "m = 0", "1 to"}},
      {"negative", "t.toml", with(layer, "k = 4", "k = -4"), model, 3, {"t.toml:4", "-4"}},
      {"huge", "t.toml", with(layer, "n = 4", "n = 99999999999"), model, 3, {"t.toml:5", "99999999999"}},
      {"beyond integers", "t.toml", with(layer, "n = 4", "n = 99999999999999999999999"), model, 3, {"t.toml:5"}},
      {"text for a number", "t.toml", with(layer, "n = 4", "n = \"four\""), model, 3, {"t.toml:5", "whole number"}},
      {"broken toml", "t.toml", "[[layer\n", model, 3, {"t.toml:1"}},
      {"convolution larger than its image",
       "t.toml",
       "batch = 1\n[[layer]]\nname = 'c'\nconv = { height = 2, width = 9, channels = 1, out_channels = 1, kernel = 3 "
       "}\n",
       model,
       3,
       {"t.toml:4", "height of 3", "image's 2", "padding larger"}},
      {"unknown input", "t.toml", layer + "input = 'nobody'\n", model, 3, {"t.toml:1", "nobody", "stands before"}},
      {"csv zero", "t.csv", "name,M,K,N\na,1,0,1\n", model, 3, {"t.csv:2", "K"}},
      {"csv negative", "t.csv", "a,1,1,-7\n", model, 3, {"t.csv:1", "-7"}},
      {"csv short line", "t.csv", "a,1,1\n", model, 3, {"t.csv:1"}},
      {"csv twice the same name", "t.csv", "a,1,1,1\na,1,1,1\n", model, 3, {"t.csv:2", "taken by line 1"}},
      {"csv with a terminal's commands", "t.csv", "a\x1b[2J,1,1,1\n", model, 3, {"t.csv:1", "'a\\x1b[2J'"}},
      {"graph without products",
       "t.graph",
       "graph \"t\"\ninput x fp32 [2, 6]\ny = Relu(x)\nresult y\n",
       model,
       3,
       {"t.graph: no op is a product with weights"}},
      {"unknown name", "t.toml", "", {"--model", "nonesuch", "--npu", "test8"}, 3, {"nonesuch", "bert_tiny", "path"}},
      {"empty name", "t.toml", "", {"--model", "", "--npu", "test8"}, 3, {"bert_tiny"}},
      {"layer too large for any NPU", "t.csv", "huge,16000000,16000000,16000000\n", model, 3, {"huge"}},
  };
}

std::vector<Case> npu_cases() {
  const std::vector<std::string> npu{"--model", "mlp", "--npu", "./FILE"};
  return {
      {"missing file", "n.toml", "", {"--model", "mlp", "--npu", "./none.toml"}, 3, {"none.toml", "check the name"}},
      {"unknown name", "n.toml", "", {"--model", "mlp", "--npu", "nonesuch"}, 3, {"nonesuch", "small", "path"}},
      {"empty", "n.toml", "", npu, 3, {"n.toml", "[npu]"}},
      {"unknown key", "n.toml", with(kNpu, "cores = 1", "cores = 1\nthreads = 2"), npu, 3, {"n.toml:6", "threads"}},
      {"missing key", "n.toml", with(kNpu, "rows = 8\n", ""), npu, 3, {"n.toml", "rows"}},
      {"zero rows", "n.toml", with(kNpu, "rows = 8", "rows = 0"), npu, 3, {"n.toml:3", "rows"}},
      {"negative scratchpad",
       "n.toml",
       with(kNpu, "spm_bytes = 8192", "spm_bytes = -1"),
       npu,
       3,
       {"n.toml:6", "spm_bytes"}},
      {"huge rows", "n.toml", with(kNpu, "rows = 8", "rows = 100000"), npu, 3, {"n.toml:3", "rows"}},
      {"too small for any tiling",
       "n.toml",
       with(with(kNpu, "spm_bytes = 8192", "spm_bytes = 32"), "spm_banks = 4", "spm_banks = 1"),
       npu,
       3,
       {"fc", "scratchpad"}},
  };
}

std::vector<Case> usage_cases() {
  const auto more = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--model", "mlp", "--npu", "test8"});
    return arguments;
  };
  return {
      {"unknown option", "f", "", more({"--sede", "1"}), 2, {"--sede"}},
      {"seed no number", "f", "", more({"--seed", "one"}), 2, {"--seed"}},
      {"negative seed", "f", "", more({"--seed", "-1"}), 2, {"--seed"}},
      {"seed too large", "f", "", more({"--seed", "18446744073709551616"}), 2, {"--seed"}},
      {"no jobs", "f", "", more({"--jobs", "0"}), 2, {"--jobs"}},
      {"unknown schedule", "f", "", more({"--schedule", "fast"}), 2, {"fast", "sequential", "all"}},
      {"unknown pass", "f", "", more({"--pass", "up"}), 2, {"up", "backward"}},
      {"unknown data", "f", "", more({"--data", "zeros"}), 2, {"zeros", "special"}},
      {"unknown backend", "f", "", more({"--backend", "fpga"}), 2, {"fpga", "rtl"}},
      {"unknown layer", "f", "", more({"--layers", "fc9"}), 2, {"fc9", "fc1"}},
      {"layer beyond the end", "f", "", more({"--layers", "1-7"}), 2, {"1-7"}},
      {"range backwards", "f", "", more({"--layers", "2-1"}), 2, {"2-1"}},
      {"unknown trace format", "f", "", more({"--trace", "vcd"}), 2, {"vcd"}},
      {"trace without signals", "f", "", more({"--trace", "fst"}), 2, {"functional"}},
      {"stalls without a bus", "f", "", more({"--stall-probability", "0.5"}), 2, {"functional"}},
      {"no probability", "f", "", more({"--stall-probability", "nan"}), 2, {"--stall-probability", "not a number"}},
      {"trace of a model", "f", "", more({"--backend", "timing", "--trace", "fst"}), 2, {"--trace", "timing"}},
      {"stalls of a model", "f", "", more({"--backend", "timing", "--stall-probability", "0.5"}), 2, {"timing"}},
      {"times without time", "f", "", more({"--times", "t/"}), 2, {"--times", "functional", "timing"}},
      {"times of several layers in a file",
       "f",
       "",
       more({"--backend", "timing", "--schedule", "all", "--times", "t.csv"}),
       2,
       {"--times t.csv", "t.csv/", "--schedule"}},
      {"times in no directory", "f", "", more({"--backend", "timing", "--times", "/proc/t/"}), 5, {"/proc/t"}},
      {"two outputs into one pipe",
       "f",
       "",
       more({"--backend", "timing", "--layers", "0", "--times", "-", "--json", "-"}),
       2,
       {"--times", "--json", "standard output"}},
      {"report into a missing directory",
       "f",
       "",
       more({"--json", "none/r.json"}),
       5,
       {"none/r.json", "choose another"}},
      {"report onto a directory", "f", "", more({"--json", "."}), 5, {"directory"}},
      {"report into no directory", "f", "", more({"--json", "/proc/r.json"}), 5, {"/proc/r.json"}},
  };
}

class CliFiles : public CommandLineTest {
protected:
  void check(const Case &c) const {
    SCOPED_TRACE(c.what);
    std::filesystem::remove_all(work());
    std::filesystem::create_directory(work());
    write(c.file, c.text);
    std::vector<std::string> arguments{"cosim", "--backend", "functional"};
    for (const std::string &argument : c.arguments) {
      if (argument == "--backend") arguments.resize(1); // the case brings its own
      arguments.push_back(argument == "./FILE" ? "./" + c.file : argument);
    }
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, c.code) << r.out << r.err;
    const std::string said = r.err + r.out;
    for (const std::string &part : c.message)
      EXPECT_NE(said.find(part), std::string::npos) << part << " is not in: " << said;
    EXPECT_EQ(said.find("PASS"), std::string::npos);
    EXPECT_EQ(files(), std::vector<std::string>{c.file});
  }
};

TEST_F(CliFiles, BadModels) {
  for (const Case &c : model_cases())
    check(c);
}

TEST_F(CliFiles, BadNpus) {
  for (const Case &c : npu_cases())
    check(c);
}

TEST_F(CliFiles, BadUsageAndOutputs) {
  for (const Case &c : usage_cases())
    check(c);
}

TEST_F(CliFiles, NoOrUnknownSubcommand) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"emulate"}).code, 2);
}

TEST_F(CliFiles, AnNpuWithoutLibraryIsADeviceError) {
  write("n.toml", kNpu);
  ::setenv("GRADWEAVE_LIB_DIR", work().c_str(), 1);
  const CommandResult r = run({"cosim", "--model", "mlp", "--npu", "./n.toml"});
  EXPECT_EQ(r.code, 4);
  EXPECT_EQ(r.out, "");
  for (const std::string &part : {std::string("NOT RUN"), std::string("libgradweave_rtl_mine.so"),
                                  "make cosim NPU=" + (work() / "n.toml").string()})
    EXPECT_NE(r.err.find(part), std::string::npos) << part << " is not in: " << r.err;
  const CommandResult named = run({"cosim", "--model", "mlp", "--npu", "large4", "--json", "r.json"});
  EXPECT_EQ(named.code, 4);
  EXPECT_NE(named.err.find("`make cosim NPU=large4`"), std::string::npos) << named.err;
  EXPECT_EQ(run({"search", "--model", "mlp", "--npu", "./n.toml", "--check", "rtl"}).code, 4);
  ::unsetenv("GRADWEAVE_LIB_DIR");
  EXPECT_EQ(files(), std::vector<std::string>{"n.toml"});
}

TEST_F(CliFiles, ALibraryThatIsNoneRunsNothing) {
  const std::string npu = "./" + write("n.toml", kNpu);
  write("libgradweave_rtl_mine.so", "nonsense");
  ::setenv("GRADWEAVE_LIB_DIR", work().c_str(), 1);
  const CommandResult r = run({"cosim", "--model", "mlp", "--npu", npu, "--layers", "0", "--json", "r.json"});
  const CommandResult streams = run({"validate", "--random", "1", "--npu", npu});
  ::unsetenv("GRADWEAVE_LIB_DIR");
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.out.find("\nNOT RUN\n"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("FAIL"), std::string::npos) << r.out;
  EXPECT_NE(read_file(work() / "r.json").find("\"verdict\": \"NOT RUN\""), std::string::npos);
  EXPECT_EQ(streams.code, 4);
  EXPECT_NE(streams.out.find("NOT RUN: npu mine"), std::string::npos) << streams.out;
}

TEST_F(CliFiles, BadStreams) {
  write("bad.gws", "nonsense");
  write("bad.txt", "LOAD bf16\nJUMP 3\n");
  EXPECT_EQ(run({"disasm", "bad.gws"}).code, 3);
  EXPECT_EQ(run({"disasm", "none.gws"}).code, 3);
  const CommandResult r = run({"asm", "bad.txt", "-o", "out.gws"});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("bad.txt:1"), std::string::npos) << r.err;
  write("good.txt", "SYNC engine=load\n");
  EXPECT_EQ(run({"asm", "good.txt", "-o", "none/out.gws"}).code, 5);
  EXPECT_EQ(files(), (std::vector<std::string>{"bad.gws", "bad.txt", "good.txt"}));
}

TEST_F(CliFiles, ACompileErrorWritesNoStream) {
  write("t.csv", "fine,4,4,4\nhuge,16000000,16000000,16000000\n");
  const CommandResult r =
      run({"compile", "--model", "t.csv", "--npu", "test8", "--out", "streams", "--json", "s.json"});
  EXPECT_EQ(r.code, 3);
  EXPECT_EQ(files(), std::vector<std::string>{"t.csv"});
}

TEST_F(CliFiles, StreamsAppearTogether) {
  write("t.csv", "one,4,4,4\ntwo,8,8,8\n");
  std::filesystem::create_directories(work() / "streams" / "1-two.gws");
  const std::vector<std::string> compile{"compile", "--model", "t.csv",   "--npu",
                                         "test8",   "--out",   "streams", "--listing"};
  const auto streams = [this] { return files(work() / "streams"); };
  const CommandResult r = run(compile);
  EXPECT_EQ(r.code, 5);
  EXPECT_NE(r.err.find("1-two.gws: cannot be written: it is a directory"), std::string::npos) << r.err;
  EXPECT_EQ(streams(), std::vector<std::string>{"1-two.gws"});
  std::filesystem::remove(work() / "streams" / "1-two.gws");
  EXPECT_EQ(run(compile).code, 0);
  EXPECT_EQ(streams(), (std::vector<std::string>{"0-one.gws", "0-one.lst", "1-two.gws", "1-two.lst"}));
}

} // namespace
} // namespace gradweave::test
