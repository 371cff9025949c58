// ONNX files where a network's name goes, as a user sees it.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

class Onnx : public CommandLineTest {
protected:
  /// A file of tests/graph/onnx, whose path the command takes from anywhere.
  static std::string file(const std::string &name) { return (root() / "tests" / "graph" / "onnx" / name).string(); }

private:
  static std::filesystem::path root() {
    static const std::filesystem::path path = std::filesystem::current_path();
    return path;
  }
};

TEST_F(Onnx, IsShownAndDrawn) {
  const CommandResult r = run({"models", file("images.onnx"), "--batch", "3", "--svg", "net.svg"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("images: ONNX, opset 9, by pytorch"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("346 parameters"), std::string::npos) << r.out;
  const std::string svg = read_file(work() / "net.svg");
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  for (const char *box : {">input<", ">result<", ">Conv<", ">MaxPool<", ">Gemm<", ">[3, 4]<"})
    EXPECT_NE(svg.find(box), std::string::npos) << box;
}

TEST_F(Onnx, OperatorsAreListed) {
  const CommandResult r = run({"models", "--operators"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("of ONNX files, opsets 1 to 24"), std::string::npos);
  EXPECT_NE(r.out.find("\n    Conv: images and signals\n"), std::string::npos);
}

TEST_F(Onnx, LayersRunOnADevice) {
  const CommandResult r = run({"cosim", "--model", file("images.onnx"), "--batch", "2", "--npu", "test8", "--backend",
                               "functional", "--pass", "both", "--quiet"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("\nPASS\n"), std::string::npos) << r.out;
}

TEST_F(Onnx, EndsWhereItIsTold) {
  const std::string until = "/c2/Conv";
  const CommandResult r =
      run({"simulate", "--model", file("images.onnx"), "--until", until, "--npu", "test8", "--json", "-"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(r.out)["layers"].size(), 2U);
  const CommandResult nothing = run({"train", "--model", "mlp", "--until", "nothing", "--loss", "mse"});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_NE(nothing.err.find("--until nothing: there is no op of that name, and none computes a tensor of it; give the "
                             "name of an op, as fc1.product"),
            std::string::npos)
      << nothing.err;
  const CommandResult nowhere = run({"models", file("images.onnx"), "--until", "nowhere"});
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_NE(nowhere.err.find("--until nowhere"), std::string::npos) << nowhere.err;
}

TEST_F(Onnx, TakesSizes) {
  EXPECT_EQ(run({"models", file("images.onnx"), "--set", "net.batch=5"}).code, 0);
  EXPECT_EQ(run({"models", file("images.onnx"), "--set", "net.nothing=5"}).code, 3);
  for (const char *dim : {"batch", "batch=", "=5", "batch=0", "batch=x"})
    EXPECT_EQ(run({"models", file("images.onnx"), "--set", dim}).code, 2) << dim;
  EXPECT_EQ(run({"models", "lenet", "--set", "net.batch=5"}).code, 0);
  EXPECT_EQ(run({"models", "gemms", "--set", "net.batch=5"}).code, 3);
}

TEST_F(Onnx, LearnsWithALoss) {
  const auto losses = [&](const std::vector<std::string> &more) {
    std::vector<std::string> arguments{
        "train",    "--model", file("training.onnx"), "--batch", "4", "--data", "synthetic", "--steps", "2", "--json",
        "out.json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, 0) << r.err;
    return nlohmann::json::parse(read_file(work() / "out.json"))["losses"];
  };
  EXPECT_NE(losses({}), losses({"--loss", "mse"}));
  EXPECT_EQ(losses({"--loss", "mse"}), losses({"--loss", "mse", "--backend", "functional", "--npu", "test8"}));
  EXPECT_EQ(run({"train", "--model", file("training.onnx"), "--data", "synthetic", "--loss", "none"}).code, 2);
  EXPECT_EQ(run({"train", "--model", "lenet", "--data", "synthetic", "--loss", "mse"}).code, 2);
}

/// Masks and positions of ids are computed before a step, for a device as for the golden execution.
TEST_F(Onnx, FeedsWhatFollowsFromWholeNumbers) {
  const std::vector<std::string> step{"train", "--model",   file("whole.onnx"), "--loss", "mse",  "--steps",
                                      "2",     "--backend", "functional",       "--npu",  "test8"};
  std::vector<std::string> synthetic = step;
  synthetic.insert(synthetic.end(), {"--data", "synthetic"});
  const CommandResult r = run(synthetic);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("\nPASS\n"), std::string::npos) << r.out;
}

TEST_F(Onnx, IsCountedWithoutValues) {
  EXPECT_EQ(run({"models", file("stripped.onnx")}).code, 0);
  EXPECT_EQ(run({"simulate", "--model", file("stripped.onnx"), "--npu", "test8", "--quiet"}).code, 0);
  const CommandResult r = run({"train", "--model", file("stripped.onnx"), "--data", "synthetic", "--loss", "mse"});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("initializer 'w': its values are missing"), std::string::npos) << r.err;
}

TEST_F(Onnx, SaysWhatIsNotLearned) {
  const CommandResult r = run({"models", file("rotary.onnx")});
  EXPECT_NE(
      r.out.find("note: not learned, as no layer reads them as weights: 'f', 'table'; --learned NAME if one is\n"),
      std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("\n20 parameters"), std::string::npos) << r.out;
  EXPECT_NE(run({"models", file("rotary.onnx"), "--learned", "table"}).out.find("\n40 parameters"), std::string::npos);
  EXPECT_EQ(run({"models", file("rotary.onnx"), "--frozen", "nothing"}).code, 3);
  EXPECT_EQ(run({"train", "--model", "mlp", "--frozen", "nothing", "--data", "synthetic"}).code, 3);
}

TEST_F(Onnx, BecomesTasks) {
  const CommandResult r = run({"tasks", "--model", file("attention_17.onnx"), "--npu", "test8"});
  EXPECT_EQ(r.code, 0) << r.err;
}

} // namespace
} // namespace gradweave::test
