// Tensors in and out of training: --weights, --input, --target, --dump.
#include "graph/tensor_file/tensor_file.hpp"
#include "tests/cli/command_line.hpp"

#include <map>

namespace gradweave::test {
namespace {

using graph::FileTensor;

class CliTensors : public CommandLineTest {
protected:
  static constexpr const char *kNetwork = "graph \"net\"\n"
                                          "let batch = 2\n"
                                          "input x fp32 [batch, 6]\n"
                                          "input labels int32 [batch]\n"
                                          "parameter w [6, 4] init \"normal:0.5\"\n"
                                          "parameter b [4] init \"zeros\"\n"
                                          "s = Gemm(x, w)\n"
                                          "y = Bias(s, b)\n"
                                          "cost = SoftmaxCrossEntropy(y, labels)\n"
                                          "result y\n"
                                          "loss cost\n";
  CommandResult train(const std::vector<std::string> &more) const {
    std::vector<std::string> arguments{"train", "--model", "./" + write("net.graph", kNetwork), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::map<std::string, FileTensor> read(const std::string &name) const {
    std::map<std::string, FileTensor> tensors;
    for (FileTensor &tensor : graph::read_tensors(work() / name, [](const graph::TensorEntry &) {}))
      tensors.emplace(tensor.name, tensor);
    return tensors;
  }
  void write_data(std::size_t samples) const {
    std::vector<float> x(samples * 6);
    std::vector<std::int32_t> labels(samples);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i % 7) / 4 - 0.5F;
    for (std::size_t i = 0; i < samples; ++i)
      labels[i] = static_cast<std::int32_t>(i % 4);
    graph::write_tensors(work() / "x.npy", {graph::file_tensor("x", graph::FileType::kFp32, {samples, 6}, x)});
    graph::write_tensors(work() / "l.npy", {graph::file_tensor("l", {samples}, labels)});
  }
  void expect_error(const std::vector<std::string> &arguments, const std::string &part, int code = 3) const {
    const CommandResult r = train(arguments);
    EXPECT_EQ(r.code, code) << r.out << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
};

TEST_F(CliTensors, WhatIsDumpedIsReadBackToTheBit) {
  write_data(6);
  const std::vector<std::string> data{"--input", "x.npy", "--target", "l.npy", "--steps", "1"};
  const auto step = [&](std::vector<std::string> more) {
    more.insert(more.end(), data.begin(), data.end());
    const CommandResult r = train(more);
    ASSERT_EQ(r.code, 0) << r.out << r.err;
  };
  for (const char *ending : {".npz", ".safetensors"}) {
    const std::string after = std::string("after") + ending, again = std::string("again") + ending;
    step({"--dump", "weights", "--dump-to", after});
    step({"--weights", after, "--dump", "w,b", "--dump-to", again});
    const auto wrote = read(after), had = read(again);
    ASSERT_EQ(wrote.size(), 2U);
    EXPECT_EQ(had.at("w").bytes, wrote.at("w").bytes) << "the second step begins with what the first one left";
    EXPECT_EQ(had.at("b").bytes, wrote.at("b").bytes);
  }
}

/// The same by the golden execution and with products on a device.
TEST_F(CliTensors, GradientsAreThoseOfTheData) {
  write_data(2);
  const std::vector<std::string> of{"--input", "x.npy",  "--target",          "l.npy",    "--steps",
                                    "1",       "--dump", "gradients,outputs", "--dump-to"};
  auto golden = of, device = of;
  golden.emplace_back("g.npz");
  device.insert(device.end(), {"d.npz", "--backend", "functional", "--npu", "test8"});
  ASSERT_EQ(train(golden).code, 0);
  ASSERT_EQ(train(device).code, 0);
  const auto g = read("g.npz"), d = read("d.npz");
  ASSERT_EQ(g.size(), 4U);
  for (const char *name : {"w.grad", "b.grad", "y", "cost"})
    EXPECT_EQ(g.at(name).bytes, d.at(name).bytes) << name;
  // The gradients of a softmax sum to 0 over the classes, but for rounding to bf16.
  float sum = 0;
  for (const float v : floats_of(g.at("b.grad")))
    sum += v;
  EXPECT_NEAR(sum, 0, 0.01);
}

TEST_F(CliTensors, AStepByCosimTakesTensors) {
  write_data(2);
  const std::string net = "./" + write("net.graph", kNetwork);
  const std::vector<std::string> tensors{"--input", "x.npy",     "--target",  "l.npy",
                                         "--dump",  "gradients", "--dump-to", "c.npz"};
  std::vector<std::string> step{"cosim", "--step", "--model", net, "--npu", "test8", "--backend", "functional"};
  step.insert(step.end(), tensors.begin(), tensors.end());
  const CommandResult cosim = run(step);
  ASSERT_EQ(cosim.code, 0) << cosim.out << cosim.err;
  EXPECT_NE(cosim.out.find("--dump gradients --dump-to c.npz"), std::string::npos) << "not repeated: " << cosim.out;
  std::vector<std::string> same = tensors;
  same.back() = "t.npz";
  same.insert(same.end(), {"--steps", "1"});
  ASSERT_EQ(train(same).code, 0);
  for (const char *name : {"w.grad", "b.grad"})
    EXPECT_EQ(read("c.npz").at(name).bytes, read("t.npz").at(name).bytes) << name;

  const CommandResult layers = run({"cosim", "--model", net, "--input", "x.npy"});
  EXPECT_EQ(layers.code, 2);
  EXPECT_NE(layers.err.find("--input x.npy: layers have data of a seed"), std::string::npos) << layers.err;
}

TEST_F(CliTensors, BatchesFollowOneAnother) {
  write_data(5); // two batches of 2; the fifth sample fills none
  ASSERT_EQ(train({"--input", "x.npy", "--target", "l.npy", "--steps", "2", "--lr", "0", "--weight-decay", "0",
                   "--dump", "all", "--dump-to", "second.npz"})
                .code,
            0);
  ASSERT_EQ(train({"--input", "x.npy", "--target", "l.npy", "--steps", "4", "--lr", "0", "--weight-decay", "0",
                   "--dump", "y", "--dump-to", "fourth.npz"})
                .code,
            0);
  EXPECT_EQ(read("second.npz").at("y").bytes, read("fourth.npz").at("y").bytes);
  const CommandResult epoch = train({"--input", "x.npy", "--target", "l.npy"});
  EXPECT_NE(epoch.out.find("\n       2 "), std::string::npos) << epoch.out;
  EXPECT_EQ(epoch.out.find("\n       3 "), std::string::npos) << "an epoch has two steps";
  EXPECT_NE(epoch.out.find(" in the last step; "), std::string::npos) << epoch.out;
}

TEST_F(CliTensors, WeightsThatDoNotFitAreNamed) {
  const auto weights = [&](const std::vector<FileTensor> &tensors) {
    graph::write_tensors(work() / "w.safetensors", tensors);
  };
  const auto tensor = [](const std::string &name, std::vector<std::uint64_t> shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape)
      count *= size;
    return graph::file_tensor(name, graph::FileType::kFp32, std::move(shape), std::vector<float>(count));
  };
  const std::vector<std::string> use{"--data", "synthetic", "--steps", "1", "--weights", "w.safetensors"};
  weights({tensor("w", {6, 4}), tensor("b", {4})});
  EXPECT_EQ(train(use).code, 0);
  weights({tensor("w", {6, 4})});
  expect_error(use, "w.safetensors: parameters of the network are missing: b");
  weights({tensor("w", {6, 4}), tensor("b", {4}), tensor("c", {1})});
  expect_error(use, "w.safetensors: tensor 'c' is no parameter of the network; remove it, or correct its name");
  weights({tensor("w", {4, 6}), tensor("b", {4})});
  expect_error(use, "w.safetensors: tensor 'w' is [4, 6]; the network's is [6, 4]");
  weights({tensor("w", {6, 4}), graph::file_tensor("b", {4}, std::vector<std::int32_t>(4))});
  expect_error(use, "w.safetensors: tensor 'b' is of type int64; real numbers are wanted");
}

TEST_F(CliTensors, DataThatDoNotFitAreNamed) {
  write_data(2);
  expect_error({"--input", "x.npy"}, "input 'labels' of graph 'net' is given nowhere; give it by --target");
  expect_error({"--target", "l.npy"}, "input 'x' of graph 'net' is given nowhere; give it by --input");
  expect_error({"--input", "l.npy", "--target", "l.npy"},
               "l.npy: tensor 'l' is [2]; input 'x' takes [2, 6], and more along the first dimension");
  graph::write_tensors(work() / "z.npz",
                       {graph::file_tensor("z1", graph::FileType::kFp32, {2, 6}, std::vector<float>(12)),
                        graph::file_tensor("z2", graph::FileType::kFp32, {2, 6}, std::vector<float>(12))});
  expect_error({"--input", "z.npz", "--target", "l.npy"}, "z.npz: tensor 'z2': input 'x' has been given already");
  expect_error({"--data", "synthetic", "--steps", "1", "--dump", "gradient", "--dump-to", "d.npz"},
               "the step has no tensor 'gradient'; use weights, gradients, outputs, all, or a name", 2);
  expect_error({"--data", "synthetic", "--steps", "1", "--dump", "all"}, "give both", 2);
  expect_error({"--data", "synthetic", "--steps", "1", "--dump", "gradients", "--dump-to", "d.npy"},
               "--dump-to d.npy: an .npy file holds one tensor, not 2", 2);
  expect_error({"--data", "synthetic", "--steps", "1", "--dump", "all", "--dump-to", "d.bin"},
               "the name must end in .safetensors, .npz or .npy", 2);
}

} // namespace
} // namespace gradweave::test
