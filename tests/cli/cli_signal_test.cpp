// SIGINT, SIGTERM and SIGHUP in every phase of commands: reading, planning, compiling, running, writing.
#include "tests/cli/command_line.hpp"

#include <chrono>
#include <csignal>
#include <sys/stat.h>
#include <thread>

namespace gradweave::test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// A second, and what a busy machine adds to it.
constexpr auto kWithin = 1500ms;

struct Phase {
  const char *name;
  std::chrono::milliseconds after; ///< how long the command has run when the signal comes
  Words words;
  int operators = 0; ///< of chain.graph
  Words left = {};   ///< files that it leaves besides its inputs: what is kept, and goes on from there
};

class CliSignal : public CommandLineTest, public ::testing::WithParamInterface<std::tuple<Phase, int>> {
protected:
  CliSignal() {
    write("t.csv", "a,20000,3000,3000\nb,20000,3000,2000\n");
    ::mkfifo((work() / "pipe").c_str(), 0600); // which nobody reads
  }

  static bool runs(pid_t pid) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  }

  /// Operators that take long to plan as one step.
  static std::string chain(int operators) {
    std::string text = "graph \"chain\"\ninput x bf16 [64, 256]\ninput labels int32 [64]\n"
                       "parameter w [256, 256] init \"kaiming\"\ny = Gemm(x, w)\n";
    std::string last = "y";
    for (int i = 0; i < operators; ++i) {
      const std::string next = "t" + std::to_string(i);
      text += next;
      text += " = Tanh(" + last + ")\n";
      last = next;
    }
    return text + "cost = SoftmaxCrossEntropy(" + last + ", labels)\nresult " + last + "\nloss cost\n";
  }
};

TEST_P(CliSignal, EndsWithinASecondAndLeavesNothingHalfWritten) {
  const auto &[phase, signal] = GetParam();
  write("chain.graph", chain(phase.operators));
  Words expected = files();
  expected.insert(expected.end(), phase.left.begin(), phase.left.end());
  std::sort(expected.begin(), expected.end());
  const pid_t pid = start(phase.words);
  std::this_thread::sleep_for(phase.after);
  ASSERT_TRUE(runs(pid)) << "the phase is too short for this test: " << finish(pid).err;
  const auto sent = std::chrono::steady_clock::now();
  ::kill(pid, signal);
  const CommandResult r = finish(pid);
  EXPECT_LT(std::chrono::steady_clock::now() - sent, kWithin);
  EXPECT_EQ(r.code, 128 + signal) << r.out << r.err;
  EXPECT_NE(r.err.find("gradweave: error: interrupted ("), std::string::npos) << r.err;
  EXPECT_EQ(files(), expected);
}

const std::vector<Phase> kPhases{
    {"ModelsRead", 200ms, {"models", "./chain.graph", "--dump-graph", "out.graph"}, 300000},
    {"SimulatePlan",
     600ms,
     {"simulate", "--model", "t.csv", "--npu", "small", "--schedule", "search", "--json", "r.json", "--html", "r.html",
      "--times", "times.csv"}},
    {"SimulateWrite", 600ms, {"simulate", "--model", "mlp", "--json", "pipe", "--html", "r.html"}},
    {"CompilePlan",
     600ms,
     {"compile", "--model", "t.csv", "--npu", "small", "--schedule", "search", "--out", "new/streams", "--listing",
      "--json", "r.json"}},
    {"CosimPlan",
     600ms,
     {"cosim", "--model", "t.csv", "--npu", "small", "--schedule", "search", "--backend", "functional", "--json",
      "r.json"}},
    {"CosimStepPlan",
     900ms,
     {"cosim", "--step", "--model", "./chain.graph", "--npu", "test8v2", "--backend", "functional", "--json", "r.json"},
     20000},
    {"TrainPlan",
     900ms,
     {"train", "--model", "./chain.graph", "--npu", "test8v2", "--backend", "timing", "--data", "synthetic",
      "--checkpoint", "c.safetensors", "--loss-plot", "loss.svg"},
     20000},
    {"TrainGolden",
     900ms,
     {"train", "--model", "bert_tiny", "--data", "synthetic", "--steps", "100", "--json", "r.json", "--dump",
      "gradients", "--dump-to", "step.npz"}},
    {"Search", 600ms, {"search", "--model", "t.csv", "--npu", "small", "--json", "r.json"}},
    {"Weave",
     600ms,
     {"weave", "--job", "bert_tiny:4:both", "--job", "bert_tiny:1:forward:2", "--npu", "small", "--policy", "tiles",
      "--changes", "100000000", "--json", "r.json"}},
    {"Memory",
     600ms,
     {"memory", "--validate", "--model", "bert_tiny", "--npu", "small", "--schedule", "search", "--json", "r.json"}},
    {"Sweep",
     900ms,
     {"sweep", "--model", "t.csv", "--npu", "small", "--schedule", "search", "--csv", "r.csv"},
     0,
     {"sweep.db"}},
};

std::string signal_name(const ::testing::TestParamInfo<std::tuple<Phase, int>> &info) {
  const int signal = std::get<1>(info.param);
  return std::get<0>(info.param).name + std::string(signal == SIGINT ? "Int" : signal == SIGTERM ? "Term" : "Hup");
}

INSTANTIATE_TEST_SUITE_P(Phases, CliSignal,
                         ::testing::Combine(::testing::ValuesIn(kPhases), ::testing::Values(SIGINT, SIGTERM)),
                         signal_name);
INSTANTIATE_TEST_SUITE_P(Hangup, CliSignal,
                         ::testing::Combine(::testing::Values(kPhases[1], kPhases[5]), ::testing::Values(SIGHUP)),
                         signal_name);

/// What nohup does.
TEST_F(CliSignal, AnIgnoredHangupStaysIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  const pid_t pid = start({"simulate", "--model", "t.csv", "--npu", "small", "--schedule", "search"});
  ::signal(SIGHUP, SIG_DFL);
  std::this_thread::sleep_for(300ms);
  ::kill(pid, SIGHUP);
  std::this_thread::sleep_for(800ms);
  EXPECT_TRUE(runs(pid));
  ::kill(pid, SIGTERM);
  EXPECT_EQ(finish(pid).code, 128 + SIGTERM);
}

} // namespace
} // namespace gradweave::test
