// Networks that learn on the RTL, each tensor of each step compared: docs/training.md's commands.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class LearnsOnRtl : public CommandLineTest {
protected:
  /// The accuracy on the test images.
  double accuracy_of(std::vector<std::string> words, std::size_t steps) {
    const std::vector<std::string> more{"--schedule-lr", "linear",       "--backend",      "rtl",
                                        "--npu",         "edge32x16",    "--eval",         "--json",
                                        "r.json",        "--checkpoint", "run.safetensors"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult r = run(words);
    EXPECT_EQ(r.code, 0) << r.err;
    if (r.code != 0) return 0;
    const auto json = nlohmann::json::parse(read_file(work() / "r.json"));
    EXPECT_EQ(json["verdict"], "pass");
    EXPECT_EQ(json["losses"].size(), steps);
    EXPECT_GT(json["compared"]["elements"], 0U);
    EXPECT_EQ(json["compared"]["unchecked"], 0U);
    const double accuracy = json["test"]["accuracy"];
    std::printf("%s: %.2f %%, %.1f s of steps\n", words[2].c_str(), 100 * accuracy, json["seconds"].get<double>());
    return accuracy;
  }
};

TEST_F(LearnsOnRtl, LeNetIn200Steps) {
  EXPECT_GE(accuracy_of({"train", "--model", "lenet", "--batch", "32", "--steps", "200", "--lr", "4e-3"}, 200), 0.73);
}

TEST_F(LearnsOnRtl, PerceptronInAnEpoch) {
  EXPECT_GE(accuracy_of({"train", "--model", "mlp_64", "--batch", "128", "--lr", "6e-3"}, 468), 0.84);
}

} // namespace
} // namespace gradweave::test
