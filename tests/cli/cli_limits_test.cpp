// Inputs without a bound and outputs without room: each is refused by name, with the documented exit code.
#include "tests/cli/command_line.hpp"

#include <sys/stat.h>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;

class CliLimits : public CommandLineTest {
protected:
  void expect_refused(const std::vector<std::string> &arguments, const std::string &part) const {
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 3) << arguments[0] << ": " << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << arguments[0] << ": " << r.err;
  }
};

TEST_F(CliLimits, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(::mkfifo((work() / "pipe.toml").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", work() / "zero.toml");
  for (const char *file : {"./pipe.toml", "./zero.toml"}) {
    const std::string why = "not a regular file";
    expect_refused({"compile", "--model", file, "--npu", "test8", "--out", "o"}, why);
    expect_refused({"simulate", "--model", "mlp", "--npu", file}, why);
    expect_refused({"simulate", file, "--npu", "test8"}, why);
    expect_refused({"disasm", file}, why);
    expect_refused({"asm", file, "-o", "o.gws"}, why);
    expect_refused({"validate", "--compare", file, file}, why);
    expect_refused({"reproduce", file}, why);
  }
}

TEST_F(CliLimits, LayerNamesAreBoundedText) {
  write("long.csv", std::string(2'000'000, 'x') + ",4,4,4\n");
  expect_refused({"models", "./long.csv"}, "2000000 bytes; use at most 200");
  write("raw.csv", "a,4,4,4\nb\xff,4,4,4\n");
  expect_refused({"models", "./raw.csv"}, "raw.csv:2: byte 0xff is no UTF-8");
  write("raw.toml", "[[layer]]\nname = \"\xc0\x80\"\nm = 4\nk = 4\nn = 4\n");
  expect_refused({"models", "./raw.toml"}, "raw.toml:2: byte 0xc0 is no UTF-8");
}

TEST_F(CliLimits, SizesAreNamedBeforeTheWork) {
  write("large.csv", "first,4,4,4\ng,4000,4000,4000\n");
  expect_refused({"compile", "--model", "./large.csv", "--npu", "test8"},
                 "layer 'g': takes at least 4685352 tile products");
  std::string npu = read_file("configs/test8.toml");
  const std::string size = "size_bytes = 1073741824";
  ASSERT_NE(npu.find(size), std::string::npos);
  write("tight.toml", npu.replace(npu.find(size), size.size(), "size_bytes = 163840"));
  write("stream.csv", "first,4,4,4\ng,100,100,100\n");
  expect_refused({"compile", "--model", "./stream.csv", "--npu", "./tight.toml"},
                 "commands included, NPU 'test8' has 163840");
}

/// A memory so slow or late that the NPU's watchdog after reset would end every run.
TEST_F(CliLimits, SlowMemoriesAreWaitedFor) {
  const std::string npu = read_file("configs/test8.toml");
  for (const auto &[key, value] : {std::pair("latency_cycles = 20", "latency_cycles = 65535"),
                                   std::pair("bandwidth_gb_s = 8 ", "bandwidth_gb_s = 0.001 ")}) {
    std::string slow = npu;
    ASSERT_NE(slow.find(key), std::string::npos);
    write("slow.toml", slow.replace(slow.find(key), std::string(key).size(), value));
    const CommandResult r = run({"simulate", "--model", "mlp", "--npu", "./slow.toml"});
    EXPECT_EQ(r.code, 0) << r.err;
  }
}

TEST_F(CliLimits, AByteOrderMarkIsNoPartOfAName) {
  write("bom.csv", "\xef\xbb\xbf"
                   "first,4,4,4\n");
  const CommandResult r = run({"simulate", "--model", "./bom.csv", "--npu", "test8", "--layers", "first"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.find('\xef'), std::string::npos);
}

TEST_F(CliLimits, AFullStandardOutputIsTold) {
  write("t.csv", kLayers);
  write("t.txt", "SYNC engine=load\n");
  ASSERT_EQ(run({"asm", "t.txt", "-o", "t.gws"}).code, 0);
  const std::vector<std::string> net{"--model", "./t.csv", "--npu", "test8"};
  std::vector<std::vector<std::string>> commands{{"models"},          {"models", "mlp"},    {"models", "test8"},
                                                 {"version"},         {"disasm", "t.gws"},  {"--help"},
                                                 {"cosim", "--help"}, {"cosim", "--status"}};
  for (const std::vector<std::string> &front : {std::vector<std::string>{"simulate"},
                                                {"cosim", "--backend", "functional"},
                                                {"cosim", "--backend", "timing", "--json", "-"},
                                                {"compile", "--out", "o"},
                                                {"search", "--plans", "1", "--step-plans", "1", "--layers", "a"}}) {
    commands.push_back(front);
    commands.back().insert(commands.back().end(), net.begin(), net.end());
  }
  for (const std::vector<std::string> &command : commands) {
    const CommandResult r = run(command, "/dev/full");
    EXPECT_EQ(r.code, 5) << command[0] << ": " << r.err;
    EXPECT_NE(r.err.find("No space left on device"), std::string::npos) << command[0] << ": " << r.err;
  }
}

TEST_F(CliLimits, AFileThatCannotGrowIsToldAndNotLeft) {
  write("t.csv", kLayers);
  const std::vector<std::string> net{"--model", "./t.csv", "--npu", "test8"};
  const std::vector<std::string> before = files();
  for (const std::vector<std::string> &front :
       {std::vector<std::string>{"simulate", "--json", "r.json"},
        {"simulate", "--times", "t.csv.times"},
        {"simulate", "--timeline", "t.json"},
        {"cosim", "--backend", "functional", "--json", "r.json"},
        {"cosim", "--backend", "timing", "--layers", "a", "--times", "x.csv"},
        {"cosim", "--backend", "timing", "--layers", "a", "--timeline", "x.json"},
        {"compile", "--out", "."},
        {"compile", "--out", ".", "--listing"},
        {"search", "--plans", "1", "--step-plans", "1", "--json", "r.json"}}) {
    std::vector<std::string> command = front;
    command.insert(command.end(), net.begin(), net.end());
    const CommandResult r = run_limited(400, command);
    EXPECT_EQ(r.code, 5) << front[0] << " " << front[1] << ": " << r.err;
    EXPECT_EQ(files(), before) << front[0] << " " << front[1];
  }
}

/// The commands that read what others wrote.
TEST_F(CliLimits, ToolsTellOfFullDisksToo) {
  write("t.csv", kLayers);
  write("a.txt", "SYNC engine=load\nSYNC engine=store\n");
  const std::vector<std::string> one{"--model", "./t.csv", "--npu", "test8", "--layers", "a"};
  const auto with = [&](std::vector<std::string> command) {
    command.insert(command.end(), one.begin(), one.end());
    return command;
  };
  ASSERT_EQ(run(with({"compile", "--out", "."})).code, 0);
  ASSERT_EQ(run(with({"simulate", "--times", "a.csv"})).code, 0);
  const std::vector<std::string> timeline{"timeline", "0-a.gws", "--model", "a.csv", "--npu", "test8", "-o"};
  const auto onto = [](std::vector<std::string> command, const char *file) {
    command.emplace_back(file);
    return command;
  };
  const std::vector<std::string> before = files();
  for (const std::vector<std::string> &command : {onto(timeline, "l.json"),
                                                  onto(timeline, "l.json.gz"),
                                                  {"disasm", "0-a.gws", "-o", "a.lst"},
                                                  {"asm", "a.txt", "-o", "b.gws"},
                                                  {"validate", "--compare", "a.csv", "a.csv", "--json", "v.json"},
                                                  {"reproduce", "igo", "--figure", "table3", "--out", "study"}}) {
    const CommandResult r = run_limited(100, command);
    EXPECT_EQ(r.code, 5) << command[0] << ": " << r.err;
    std::filesystem::remove_all(work() / "study"); // a directory that holds what is kept of an evaluation
    EXPECT_EQ(files(), before) << command[0];
  }
  for (const std::vector<std::string> &command : {std::vector<std::string>{"validate", "--compare", "a.csv", "a.csv"},
                                                  {"reproduce", "igo", "--figure", "table3", "--out", "study"}}) {
    const CommandResult r = run(command, "/dev/full");
    EXPECT_EQ(r.code, 5) << command[0] << ": " << r.err;
    EXPECT_NE(r.err.find("No space left on device"), std::string::npos) << command[0] << ": " << r.err;
  }
}

} // namespace
} // namespace gradweave::test
