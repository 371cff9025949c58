// gradweave train on the RTL, killed and resumed: the file that a run leaves in the end has the bytes of one that
// nobody stopped.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <thread>

namespace gradweave::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// A convolution, dropout, pooling and a classifier, for 4 random images.
const std::string kNetwork = "graph \"net\"\n"
                             "input x bf16 [4, 8, 8, 2]\n"
                             "input labels int32 [4]\n"
                             "input key int32 [2]\n"
                             "parameter w1 [1, 3, 3, 2, 5] init \"kaiming\"\n"
                             "parameter b1 [5] init \"zeros\"\n"
                             "parameter w2 [80, 3] init \"kaiming\"\n"
                             "p1 = Conv(x, w1) pads=[1, 1, 1, 1]\n"
                             "s1 = Bias(p1, b1)\n"
                             "a1 = Relu(s1)\n"
                             "d1 = Dropout(a1, key) ratio=0.25 stream=0\n"
                             "m1 = MaxPool(d1) kernel_shape=[2, 2] strides=[2, 2]\n"
                             "f1 = Flatten(m1)\n"
                             "logits = Gemm(f1, w2)\n"
                             "cost = SoftmaxCrossEntropy(logits, labels)\n"
                             "result logits\n"
                             "loss cost\n";

class Checkpoint : public CommandLineTest {
protected:
  Checkpoint() { write("net.graph", kNetwork); }

  Words train(const std::string &file, const Words &more = {}, const std::string &backend = "rtl") const {
    Words all{"train",     "--model", "./net.graph",   "--data",  "synthetic",    "--steps", "40",
              "--lr",      "4e-3",    "--npu",         "test8v2", "--seed",       "7",       "--quiet",
              "--backend", backend,   "--schedule-lr", "cosine",  "--checkpoint", file};
    all.insert(all.end(), options_.begin(), options_.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// The bytes of the file of a run that nobody stopped.
  std::string whole() {
    const CommandResult r = run(train("whole.safetensors"));
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find("every bit equal"), std::string::npos) << r.out;
    return read_file(work() / "whole.safetensors");
  }

  /// Runs until it has written a file newer than the last, some time more, and ends it by `signal`.
  CommandResult interrupt(int signal, std::chrono::milliseconds after) const {
    const fs::path file = work() / "part.safetensors";
    const auto written = [&] {
      std::error_code none;
      return fs::last_write_time(file, none);
    };
    const auto before = written();
    const pid_t pid = start(train("part.safetensors", {"--resume", "--checkpoint-every", "1"}));
    const auto runs = [pid] {
      siginfo_t info{};
      return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
    };
    for (int i = 0; i < 12000 && written() == before && runs(); ++i)
      std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(after);
    ::kill(pid, signal);
    return finish(pid);
  }

  Words options_; ///< of the run

  std::size_t steps_of(const CommandResult &r) const {
    EXPECT_EQ(r.code, 0) << r.err;
    return nlohmann::json::parse(read_file(work() / "r.json"))["steps_before"].get<std::size_t>();
  }
};

/// With all that depends on the number of a step or of a batch: the rate, and the masks of dropout.
TEST_F(Checkpoint, KilledAnywhereAndResumedGivesTheSameBytes) {
  options_ = {"--accumulate", "2", "--clip", "1", "--warmup", "3"};
  const std::string wanted = whole();
  int killed = 0;
  for (const int signal : {SIGKILL, SIGINT, SIGKILL, SIGTERM, SIGKILL, SIGKILL}) {
    const CommandResult r = interrupt(signal, std::chrono::milliseconds(7 * killed));
    if (r.code == 0) break; // it was faster
    ++killed;
    EXPECT_EQ(r.code, signal == SIGKILL ? -SIGKILL : 128 + signal) << r.err;
  }
  EXPECT_GE(killed, 2) << "the steps are too short for this test";
  const CommandResult r = run(train("part.safetensors", {"--resume", "--checkpoint-every", "1", "--json", "r.json"}));
  EXPECT_GE(steps_of(r), 1U);
  EXPECT_NE(r.out.find("resumed    behind step "), std::string::npos) << r.out;
  EXPECT_EQ(read_file(work() / "part.safetensors"), wanted);
  EXPECT_EQ(nlohmann::json::parse(read_file(work() / "r.json"))["losses"].size(), 40U);
}

/// Neither the temporary file of a save that was cut short nor the lock of a process that was killed stays for good.
TEST_F(Checkpoint, TheNextRunRemovesWhatAKilledOneLeft) {
  const pid_t pid = start(train("part.safetensors", {"--checkpoint-every", "1"}, "golden"));
  while (!fs::exists(work() / "part.safetensors"))
    std::this_thread::sleep_for(1ms);
  ::kill(pid, SIGKILL);
  finish(pid);
  write(".part.safetensors.partial-Ab12cD", "half of it");
  write(".part.safetensors.backup", "somebody's own");
  const CommandResult r = run(train("part.safetensors", {"--resume"}, "golden"));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(files(), (Words{".part.safetensors.backup", "net.graph", "part.safetensors"}));
}

TEST_F(Checkpoint, IsOfOneProcessAtATime) {
  const pid_t pid = start(train("part.safetensors", {"--checkpoint-every", "1"}));
  while (!fs::exists(work() / "part.safetensors"))
    std::this_thread::sleep_for(1ms);
  const fs::path other = work() / "err";
  const std::string command = std::string(GW_COMMAND) + " train --model " + (work() / "net.graph").string() +
                              " --data synthetic --steps 40 --resume --checkpoint " +
                              (work() / "part.safetensors").string() + " 2> " + other.string();
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 5);
  EXPECT_NE(read_file(other).find("part.safetensors: another process is writing it; wait for that one or name"),
            std::string::npos)
      << read_file(other);
  ::kill(pid, SIGTERM);
  EXPECT_EQ(finish(pid).code, 128 + SIGTERM);
  EXPECT_EQ(run(train("part.safetensors", {"--resume"}, "golden")).code, 0);
}

TEST_F(Checkpoint, DoesNotDependOnHowManyStepsAreUnderWay) {
  const auto outcome = [this](const std::string &jobs) {
    const std::string file = "jobs" + jobs + ".safetensors";
    const CommandResult r = run(train(file, {"--jobs", jobs, "--json", "r.json"}));
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out.find(" steps at a time") != std::string::npos, jobs != "1") << r.out;
    nlohmann::json json = nlohmann::json::parse(read_file(work() / "r.json"));
    for (const char *of_the_run : {"seconds", "compile_seconds", "reproduce"})
      json.erase(of_the_run);
    return std::make_pair(read_file(work() / file), json.dump());
  };
  const auto wanted = outcome("1");
  EXPECT_EQ(outcome("2"), wanted);
  EXPECT_EQ(outcome("3"), wanted);
}

TEST_F(Checkpoint, GoesOnWhereverTheStepsRan) {
  const std::string wanted = whole();
  const pid_t pid = start(train("part.safetensors", {"--checkpoint-every", "1"}));
  while (!fs::exists(work() / "part.safetensors"))
    std::this_thread::sleep_for(5ms);
  ::kill(pid, SIGKILL);
  finish(pid);
  const CommandResult r = run(train("part.safetensors", {"--resume"}, "golden"));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(read_file(work() / "part.safetensors"), wanted);
}

TEST_F(Checkpoint, OfAnotherRunIsRefused) {
  const auto refusal = [this](const Words &more) {
    const CommandResult r = run(train("part.safetensors", more, "golden"));
    EXPECT_NE(r.code, 0);
    return r.err;
  };
  ASSERT_EQ(run(train("part.safetensors", {}, "golden")).code, 0);
  EXPECT_NE(refusal({}).find("the file is there; add --resume"), std::string::npos);
  EXPECT_NE(refusal({"--resume", "--warmup", "3"}).find("its run has --warmup 0, and this one 3"), std::string::npos);
  const std::string two = refusal({"--resume", "--accumulate", "2", "--optimizer", "sgd"});
  EXPECT_NE(two.find("its run has --accumulate 1, and this one 2; --momentum"), std::string::npos) << two;
  EXPECT_NE(two.find("; --optimizer adamw, and this one sgd; "), std::string::npos) << two;
  EXPECT_EQ(two.find("network"), std::string::npos) << two;
  write("net.graph", kNetwork + "# the same\n");
  EXPECT_EQ(run(train("part.safetensors", {"--resume"}, "golden")).code, 0);
  std::string other = kNetwork;
  write("net.graph", other.replace(other.find("a1 = Relu(s1)"), 13, "a1 = Tanh(s1)"));
  EXPECT_NE(refusal({"--resume"}).find("its run has network "), std::string::npos);
  std::string damaged = read_file(work() / "part.safetensors");
  damaged[damaged.size() - 5] ^= 1;
  write("part.safetensors", damaged);
  write("net.graph", kNetwork);
  EXPECT_NE(refusal({"--resume"}).find("part.safetensors: damaged: its tensors"), std::string::npos);
  write("part.safetensors", "no such file");
  EXPECT_NE(refusal({"--resume"}).find("part.safetensors: "), std::string::npos);
}

TEST_F(Checkpoint, OptionsThatCannotBe) {
  const auto problem = [this](const Words &words) {
    Words all{"train", "--model", "./net.graph", "--data", "synthetic"};
    all.insert(all.end(), words.begin(), words.end());
    return run(all).err;
  };
  EXPECT_NE(problem({"--resume"}).find("Give --checkpoint FILE"), std::string::npos);
  EXPECT_NE(problem({"--checkpoint", "a.npz"}).find("must end in .safetensors"), std::string::npos);
  EXPECT_NE(problem({"--jobs", "2"}).find("--backend golden has none"), std::string::npos);
  EXPECT_NE(problem({"--jobs", "2", "--backend", "timing"}).find("--backend timing has none"), std::string::npos);
  EXPECT_NE(problem({"--jobs", "2", "--backend", "rtl", "--system", "test2"}).find("a system does one step at a time"),
            std::string::npos);
  EXPECT_NE(problem({"--jobs", "0", "--backend", "rtl"}).find("--jobs"), std::string::npos);
  EXPECT_NE(problem({"--checkpoint", "nowhere/a.safetensors"}).find("nowhere"), std::string::npos);
}

} // namespace
} // namespace gradweave::test
