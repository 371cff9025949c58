// gradweave validate --graphs: outcomes, files of what fails, exit codes, signals.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace gradweave::test {
namespace {

using Json = nlohmann::json;

class ValidateGraphs : public CommandLineTest {
protected:
  CommandResult graphs(std::vector<std::string> more) const {
    more.insert(more.begin(), "validate");
    return run(more);
  }
};

TEST_F(ValidateGraphs, AreGolden) {
  const CommandResult r = graphs({"--graphs", "5", "--npu", "test8v2", "--ops", "1", "--quiet", "--json", "r.json"});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_NE(r.out.find("5 random graphs, seeds 1 to 5, on test8v2 (functional)"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("PASS\n"), std::string::npos) << r.out;
  const Json json = Json::parse(read_file(work() / "r.json"));
  EXPECT_EQ(json.at("verdict"), "PASS");
  EXPECT_EQ(json.at("graphs"), 5);
  EXPECT_TRUE(json.at("failed").empty());
}

/// An NPU without a vector unit runs no step alone: a failure that stays one.
TEST_F(ValidateGraphs, WhatFailsIsShrunkAndKept) {
  const CommandResult r = graphs({"--graphs", "4", "--npu", "test8", "--quiet", "--keep", "failing"});
  EXPECT_EQ(r.code, 1) << r.out << r.err;
  EXPECT_NE(r.out.find("not compiled: NPU 'test8' has no vector unit"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("FAIL\n"), std::string::npos) << r.out;
  std::size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(work() / "failing"))
    if (entry.path().extension() == ".graph") {
      ++files;
      std::istringstream command(read_file(std::filesystem::path(entry.path()).replace_extension(".txt")));
      std::vector<std::string> words;
      for (std::string line, word; words.empty() && std::getline(command, line);)
        for (std::istringstream in(line); in >> word;)
          words.push_back(word);
      ASSERT_GT(words.size(), 4U);
      EXPECT_EQ(words[3].rfind("failing/", 0), 0U) << words[3];
      const CommandResult again = run({words.begin() + 1, words.end()});
      EXPECT_NE(again.err.find("has no vector unit"), std::string::npos) << again.out << again.err;
    }
  EXPECT_GT(files, 0U) << r.out;
}

TEST_F(ValidateGraphs, AnInterruptEndsAtOnceAndLeavesNoFile) {
  const pid_t pid = start({"validate", "--graphs", "100000", "--json", "r.json", "--quiet"});
  while (files().empty()) // until its output is open
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto sent = std::chrono::steady_clock::now();
  ::kill(pid, SIGINT);
  const CommandResult r = finish(pid);
  EXPECT_EQ(r.code, 130) << r.out << r.err;
  EXPECT_LT(std::chrono::steady_clock::now() - sent, std::chrono::seconds(1));
  EXPECT_TRUE(files().empty());
}

TEST_F(ValidateGraphs, BadArgumentsAreNamed) {
  const auto expect = [this](std::vector<std::string> more, int code, const std::string &message) {
    more.insert(more.begin(), {"--graphs", "1"});
    const CommandResult r = graphs(more);
    EXPECT_EQ(r.code, code) << r.out << r.err;
    EXPECT_NE(r.err.find(message), std::string::npos) << r.err;
  };
  expect({"--backend", "verilog"}, 2, "unknown backend 'verilog'");
  expect({"--backend", "rtl"}, 2, "give --npu");
  expect({"--npu", "nosuch"}, 3, "nosuch");
  expect({"--ops", "0"}, 2, "--ops");
  expect({"--json", "no/such/r.json"}, 5, "no/such");
  expect({"--keep", "/proc/failing"}, 5, "--keep");
}

} // namespace
} // namespace gradweave::test
