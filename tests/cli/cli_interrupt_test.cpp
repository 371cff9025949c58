// Ctrl-C: everything stops at once, and no partial output stays.
#include "tests/cli/command_line.hpp"

#include <chrono>
#include <csignal>
#include <thread>

namespace gradweave::test {
namespace {

using namespace std::chrono_literals;

/// Direct children of a process, as /proc shows them.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;)
    children.push_back(child);
  return children;
}

class CliInterrupt : public CommandLineTest, public ::testing::WithParamInterface<int> {};

TEST_P(CliInterrupt, EndsChildrenAndLeavesNoFile) {
  write("t.csv", "a,20000,300,300\nb,20000,300,300\nc,20000,300,300\n"); // seconds of work once compiled
  const pid_t pid = start(
      {"cosim", "--model", "t.csv", "--npu", "small", "--backend", "functional", "--jobs", "2", "--json", "r.json"});
  std::vector<pid_t> children;
  for (int i = 0; i < 1200 && children.size() < 2; ++i) {
    std::this_thread::sleep_for(50ms);
    children = children_of(pid);
  }
  ASSERT_EQ(children.size(), 2U);
  ::kill(pid, GetParam());
  const CommandResult r = finish(pid);
  EXPECT_EQ(r.code, 128 + GetParam()) << r.out << r.err;
  EXPECT_NE(r.err.find("interrupted"), std::string::npos) << r.err;
  for (const pid_t child : children)
    EXPECT_NE(::kill(child, 0), 0) << "a simulation outlives the run";
  EXPECT_EQ(files(), std::vector<std::string>{"t.csv"});
}

TEST_P(CliInterrupt, EndsASimulationInTheMiddleOfCompiling) {
  write("t.csv", "a,20000,3000,3000\nb,20000,3000,2000\n");
  const pid_t pid = start({"simulate", "--model", "t.csv", "--npu", "small", "--json", "r.json", "--times", "c.csv"});
  for (int i = 0; i < 1200 && files().size() < 3; ++i) // until its outputs are open
    std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(300ms);
  const auto sent = std::chrono::steady_clock::now();
  ::kill(pid, GetParam());
  const CommandResult r = finish(pid);
  EXPECT_EQ(r.code, 128 + GetParam()) << r.out << r.err;
  EXPECT_LT(std::chrono::steady_clock::now() - sent, 2s);
  EXPECT_NE(r.err.find("interrupted"), std::string::npos) << r.err;
  EXPECT_EQ(files(), std::vector<std::string>{"t.csv"});
}

INSTANTIATE_TEST_SUITE_P(Signals, CliInterrupt, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_F(CliInterrupt, AKilledParentTakesItsChildrenAlong) {
  write("t.csv", "a,20000,300,300\nb,20000,300,300\nc,20000,300,300\n");
  const pid_t pid = start({"cosim", "--model", "t.csv", "--npu", "small", "--backend", "functional", "--jobs", "2"});
  std::vector<pid_t> children;
  for (int i = 0; i < 1200 && children.size() < 2; ++i) {
    std::this_thread::sleep_for(50ms);
    children = children_of(pid);
  }
  ASSERT_EQ(children.size(), 2U);
  ::kill(pid, SIGKILL);
  finish(pid);
  for (const pid_t child : children) {
    for (int i = 0; i < 100 && ::kill(child, 0) == 0; ++i)
      std::this_thread::sleep_for(50ms);
    // A killed child may stay a zombie until init reaps it: only a process with memory is alive.
    const std::string maps = read_file("/proc/" + std::to_string(child) + "/maps");
    EXPECT_TRUE(maps.empty());
  }
}

} // namespace
} // namespace gradweave::test
