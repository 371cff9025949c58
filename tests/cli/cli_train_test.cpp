// gradweave train as a user sees it: output, files, exit codes.
#include "tests/cli/command_line.hpp"

#include <nlohmann/json.hpp>

namespace gradweave::test {
namespace {

/// A network of two layers for 4 random samples.
const std::string kNetwork = "graph \"net\"\n"
                             "input x bf16 [4, 9]\n"
                             "input labels int32 [4]\n"
                             "parameter w1 [9, 8] init \"kaiming\"\n"
                             "parameter b1 [8] init \"zeros\"\n"
                             "parameter w2 [8, 3] init \"kaiming\"\n"
                             "p1 = Gemm(x, w1)\n"
                             "s1 = Bias(p1, b1)\n"
                             "h1 = Relu(s1)\n"
                             "logits = Gemm(h1, w2)\n"
                             "cost = SoftmaxCrossEntropy(logits, labels)\n"
                             "result logits\n"
                             "loss cost\n";

class Train : public CommandLineTest {};

TEST_F(Train, LearnsRandomDataAndTellsLosses) {
  const std::string net = write("net.graph", kNetwork);
  const CommandResult r = run({"train", "--model", "./" + net, "--data", "synthetic", "--steps", "5", "--json",
                               "out.json", "--loss-plot", "loss.svg", "--quiet"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("net: 104 parameters"), std::string::npos) << r.out;
  const auto json = nlohmann::json::parse(read_file(work() / "out.json"));
  EXPECT_EQ(json["losses"].size(), 5U);
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_NE(read_file(work() / "loss.svg").find("<polyline"), std::string::npos);
}

TEST_F(Train, ClaimsNoBitThatWasNotComputed) {
  const std::string net = write("net.graph", kNetwork);
  const CommandResult r = run({"train", "--model", "./" + net, "--data", "synthetic", "--steps", "1", "--backend",
                               "timing", "--npu", "test8v2"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.find("every bit equal"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("the timing backend computes none"), std::string::npos) << r.out;
}

TEST_F(Train, ComparesEveryTensorOfADevice) {
  const std::string net = write("net.graph", kNetwork);
  const CommandResult golden =
      run({"train", "--model", "./" + net, "--data", "synthetic", "--steps", "3", "--json", "a.json"});
  const CommandResult r = run({"train", "--model", "./" + net, "--data", "synthetic", "--steps", "3", "--backend",
                               "functional", "--npu", "test8", "--json", "b.json"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("every bit equal"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\nPASS\n"), std::string::npos) << r.out;
  const auto a = nlohmann::json::parse(read_file(work() / "a.json")),
             b = nlohmann::json::parse(read_file(work() / "b.json"));
  EXPECT_EQ(a["losses"], b["losses"]);
  EXPECT_EQ(b["step"]["host_multiply_adds"], 0);
}

TEST_F(Train, ASystemThatCannotTrainIsRefused) {
  const std::string net = "./" + write("net.graph", kNetwork);
  const auto train = [&](const std::string &system, const std::string &backend) {
    return run(
        {"train", "--model", net, "--data", "synthetic", "--steps", "1", "--system", system, "--backend", backend});
  };
  const CommandResult backend = train("test2", "functional");
  EXPECT_EQ(backend.code, 2) << backend.out;
  EXPECT_NE(backend.err.find("use rtl, timing or golden"), std::string::npos) << backend.err;
  const CommandResult cut = train("test2", "golden");
  EXPECT_EQ(cut.code, 3) << cut.out;
  EXPECT_NE(cut.err.find("cut = 2: network 'net' has 2 layers"), std::string::npos) << cut.err;
  EXPECT_NE(cut.err.find("test2.toml:"), std::string::npos) << cut.err;
  EXPECT_EQ(train("nothing", "golden").code, 3);
}

TEST_F(Train, AStepByCosimIsOneOfTrain) {
  const std::string net = write("net.graph", kNetwork);
  const CommandResult r = run({"cosim", "--step", "--model", "./" + net, "--npu", "test8", "--backend", "functional"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("\nPASS\n"), std::string::npos) << r.out;
  EXPECT_EQ(run({"cosim", "--step", "--model", "./" + net, "--layers", "0"}).code, 2);
  const CommandResult sparse = run({"cosim", "--step", "--sparse-embeddings", "--model", "./" + net, "--npu", "test8",
                                    "--backend", "functional", "--from-make"});
  ASSERT_EQ(sparse.code, 0) << sparse.err;
  EXPECT_NE(sparse.out.find("embeddings by row"), std::string::npos) << sparse.out;
  EXPECT_NE(sparse.out.find(" STEP=1 "), std::string::npos) << sparse.out;
  EXPECT_NE(sparse.out.find(" SPARSE=1"), std::string::npos) << sparse.out;
}

/// Cycles as cosim has them, of a network without layers, too; and the points of a sweep are these steps.
TEST_F(Train, AStepBySimulateAndBySweepIsThatOfCosim) {
  write("net.graph", kNetwork);
  write("deconv.graph", "graph \"deconv\"\ninput x bf16 [2, 5, 5, 3]\ninput labels int32 [2]\n"
                        "parameter w [1, 3, 3, 4, 3] init \"kaiming\"\nparameter v [100, 3] init \"kaiming\"\n"
                        "y = ConvTranspose(x, w) pads=[1, 1, 1, 1]\nf = Flatten(y)\nl = Gemm(f, v)\n"
                        "cost = SoftmaxCrossEntropy(l, labels)\nresult l\nloss cost\n");
  const auto cycles = [](const std::string &text) { return nlohmann::json::parse(text)["step"]["cycles"].dump(); };
  for (const std::string file : {"./net.graph", "./deconv.graph"})
    for (const std::string npu : {"test8", "test8v2"}) {
      const std::vector<std::string> step{"--step", "--model", file, "--npu", npu, "--json", "-"};
      std::vector<std::string> cosim{"cosim", "--backend", "timing"}, simulate{"simulate"};
      cosim.insert(cosim.end(), step.begin(), step.end());
      simulate.insert(simulate.end(), step.begin(), step.end());
      const CommandResult one = run(simulate);
      ASSERT_EQ(one.code, 0) << one.err;
      EXPECT_EQ(cycles(one.out), cycles(run(cosim).out));
      EXPECT_NE(cycles(one.out), "0");
      EXPECT_NE(one.err.find(" simulate --model " + file + " --npu " + npu + " --step\n"), std::string::npos)
          << one.err;
      const CommandResult point =
          run({"sweep", "--step", "--model", file, "--npu", npu, "--out", npu + ".db", "--csv", "-", "--quiet"});
      ASSERT_EQ(point.code, 0) << point.err;
      EXPECT_NE(point.out.find("," + cycles(one.out) + ","), std::string::npos) << point.out;
      std::filesystem::remove(work() / (npu + ".db"));
    }
  const CommandResult layers =
      run({"simulate", "--model", "./deconv.graph", "--npu", "test8", "--json", "layers.json"});
  // 2 x 5 x 5 x 3 pixels of 3 channels meet 3 x 3 x 4 weights; the layer has 2 x 100 x 3 multiply-adds.
  EXPECT_NE(layers.out.find("not counted: 1 ConvTranspose, 90.0 % of the multiply-adds of a forward pass"),
            std::string::npos)
      << layers.out;
  EXPECT_NE(run({"sweep", "--model", "./deconv.graph", "--npu", "test8"}).err.find("not counted: 1 ConvTranspose"),
            std::string::npos);
  const auto left = nlohmann::json::parse(read_file(work() / "layers.json"))["not_counted"]["products"];
  EXPECT_EQ(left[0]["operator"], "ConvTranspose");
  EXPECT_EQ(left[0]["multiply_adds"], 2 * 5 * 5 * 3 * 9 * 4);
  EXPECT_EQ(run({"simulate", "--step", "--model", "./net.graph", "--layers", "0"}).code, 2);
  EXPECT_EQ(run({"simulate", "--model", "./net.graph", "--loss", "mse"}).code, 2);
  EXPECT_EQ(run({"sweep", "--step", "--model", "./net.graph", "--pass", "forward"}).code, 2);
}

/// There every tensor is compared anyway: on test8, which has no vector unit, and where somebody asks for it.
TEST_F(Train, KeepAllIsTakenWhereTheHostRunsOperators) {
  const std::string net = "./" + write("net.graph", kNetwork);
  for (const std::vector<std::string> &where :
       {std::vector<std::string>{"--npu", "test8"}, {"--npu", "test8v2", "--operators", "host"}}) {
    std::vector<std::string> words{"cosim", "--step", "--model", net, "--backend", "functional", "--keep-all"};
    words.insert(words.end(), where.begin(), where.end());
    const CommandResult r = run(words);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.out.find(": every bit equal"), std::string::npos) << r.out;
  }
}

TEST_F(Train, OptionsOfAStepAreRefusedByLayers) {
  const std::string net = "./" + write("net.graph", kNetwork);
  for (const char *option : {"--operators=host", "--keep-all", "--sparse-embeddings"}) {
    const CommandResult r = run({"cosim", "--model", net, "--npu", "test8", "--backend", "functional", option});
    EXPECT_EQ(r.code, 2) << option;
    EXPECT_NE(r.err.find("a step of the whole network has other operators: add --step"), std::string::npos) << r.err;
  }
}

TEST_F(Train, TellsHowLongAStepWasSimulated) {
  const std::string net = write("net.graph", kNetwork);
  const CommandResult r = run({"train", "--model", "./" + net, "--data", "synthetic", "--steps", "1", "--npu",
                               "test8v2", "--backend", "timing"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(" cycles, simulated in 0."), std::string::npos) << r.out;
}

TEST_F(Train, WrongArgumentsAndInputsAreNamed) {
  const std::string net = write("net.graph", kNetwork);
  const auto expect = [&](std::vector<std::string> more, int code, const std::string &text) {
    std::vector<std::string> arguments{"train", "--model", "./" + net};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult r = run(arguments);
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
  };
  expect({"--data", "nowhere"}, 3, "data 'nowhere' is neither fashion-mnist, synthetic, nor a directory");
  expect({"--data", "synthetic", "--eval"}, 2, "--eval: synthetic data has no test images");
  expect({"--data", "synthetic", "--epochs", "1"}, 2, "--epochs: synthetic data has no end");
  expect({"--data", "synthetic", "--optimizer", "adam"}, 2, "unknown optimizer 'adam'");
  expect({"--data", "synthetic", "--schedule-lr", "step"}, 2, "unknown schedule of the rate 'step'");
  expect({"--data", "synthetic", "--backend", "gpu"}, 2,
         "unknown backend 'gpu'; use one of: rtl, timing, functional, or golden");
  expect({"--data", "synthetic", "--npu", "test8v3"}, 3, "test8v3");
  expect({"--data", "synthetic", "--steps", "3", "--warmup", "4"}, 2, "--warmup 4: there are 3 steps");
  expect({"--data", "synthetic", "--loss-plot", "no/where.svg"}, 5, "no/where.svg");
}

TEST_F(Train, ANetworkWithoutALossIsNamed) {
  const std::string net = write("net.graph", kNetwork.substr(0, kNetwork.find("loss cost")));
  const CommandResult r = run({"train", "--model", "./" + net, "--data", "synthetic"});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("has no loss"), std::string::npos) << r.err;
}

} // namespace
} // namespace gradweave::test
