// Lists of layers that are made from graphs.
#include "graph/layers.hpp"

#include "base/key/fingerprint.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace gradweave::graph {
namespace {

using compiler::Layer;
using compiler::Network;

/// All that a list says of a layer.
std::string line_of(const Layer &l) {
  std::string conv;
  if (l.conv) {
    const Convolution &c = *l.conv;
    conv = fmt::format("{} {}x{} {}>{} k{}x{} s{}x{} p{},{},{},{} d{}x{} g{}", c.batch, c.height, c.width, c.channels,
                       c.out_channels, c.kernel_height, c.kernel_width, c.stride_height, c.stride_width, c.pad_top,
                       c.pad_bottom, c.pad_left, c.pad_right, c.dilation_height, c.dilation_width, c.groups);
  }
  return fmt::format("{} {}: {} {} {} x {}, {}, X of '{}' or '{}', W of '{}', {}\n", l.index, l.name, l.m, l.k, l.n,
                     l.groups, l.dx ? "dX" : "no dX", l.input, l.x_of, l.weights, conv);
}

std::string text_of(const Network &network) {
  std::string text;
  for (const Layer &layer : network.layers)
    text += line_of(layer);
  return text;
}

struct Kept {
  const char *model;
  const char *layers, *layers_of_8; ///< fingerprints: of the batch in the file, and of 8
};

/// Published figures, keys of journals and kept streams are of these lists.
const Kept kKept[] = {
    {"mlp", "c31db8f1ae0a512f4d5df6eae9c74f98", "abd43b19845c68595f48fbd4c7b8c271"},
    {"resnet50", "b973905d2f4e2bd0abeeb1c9c744f22f", "ded870d65776c169efae7610b1d086f8"},
    {"googlenet", "dd9808c2a8a6ba1ea5333f7ddd629ca8", "3810bce1ac248024e00bf250927733cf"},
    {"mobilenet", "a8772dfd0f7e69e0541d562f4610c01b", "d32ff477592ea832ce9988044e99d5d6"},
    {"faster_rcnn", "319533dcca223f4a9adafef42ca25706", "41148ee0e2d1fc79edc083a660fa9668"},
    {"yolov2_tiny", "b1321a35fe06250b9233f64f3c64a895", "0c13470770925124e5480a6b169c8cb2"},
    {"yolov5", "681a406872864e022d6ab20c6951f04e", "681a406872864e022d6ab20c6951f04e"},
    {"bert_tiny", "7fbbe69e932987f82458ce986e14cd0e", "8039ffdfee5c3cc82098313fc0356f76"},
    {"ncf", "06bf0c8af526d0c0d5dd306bd1802304", "38886f7ef7266f76a70fb0b357ead70f"},
    {"bert_large", "e455cca9de27e44da43c08035cc4ffb2", "e455cca9de27e44da43c08035cc4ffb2"},
    {"t5_small", "4cfc1ceefc00fe97eb5af7c8ec8c2ce6", "bc632351c7d2ea43e63f374865db48db"},
    {"t5_large", "08f091210e6567e5ec4e488347c7f2b0", "08f091210e6567e5ec4e488347c7f2b0"},
    {"dlrm", "f252c93f47ff5b0430ad64aff40830f3", "5b44a063cf6f394270226326384059af"},
};

TEST(GraphLayers, AreThoseThatFiguresWereMadeFrom) {
  for (const Kept &kept : kKept) {
    const std::string file = fmt::format("models/{}.graph", kept.model);
    const std::string text = text_of(compiler::load_network(file)), of_8 = text_of(compiler::load_network(file, 8));
    EXPECT_EQ(Fingerprint().add(text).hex(), kept.layers) << kept.model << "\n" << text;
    EXPECT_EQ(Fingerprint().add(of_8).hex(), kept.layers_of_8) << kept.model << "\n" << of_8;
  }
}

Network network(const std::string &text) { return network_of(read_graph(text, "net.graph", operators()), "net.graph"); }

std::string error_of(const std::string &text) {
  try {
    network(text);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "accepted";
}

const std::string kLinear = R"(
input x bf16 [4, 8]
parameter a.weight [8, 8]
parameter a.bias [8]
parameter b.weight [8, 8]
parameter other [3, 5]
)";

TEST(GraphLayers, AreCalledAsTheirWeightsAndReadEachOther) {
  const Network n = network(kLinear + R"(
p = Gemm(x, a.weight)
s = Bias(p, a.bias)
doubled = Mul(s, s)
h = Reshape(doubled) shape=[2, 2, 8]
q = Gemm(h, b.weight)
again = Gemm(h, a.weight)
r = Relu(again)
sum = Add(r, q)
last = Gemm(sum, b.weight)
loss last
)");
  ASSERT_EQ(n.layers.size(), 4U);
  EXPECT_EQ(text_of(n), "0 a: 4 8 8 x 1, no dX, X of '' or '', W of '', \n"
                        "1 b: 4 8 8 x 1, dX, X of 'a' or '', W of '', \n"
                        "2 again: 4 8 8 x 1, dX, X of 'a' or '', W of 'a', \n"
                        "3 last: 4 8 8 x 1, dX, X of '' or '', W of 'b', \n");
  ASSERT_EQ(n.other_parameters.size(), 2U);
  EXPECT_EQ(n.other_parameters[0].what, "bias");
  EXPECT_EQ(n.other_parameters[0].count, 8U);
  EXPECT_EQ(n.other_parameters[1].what, "other");
  EXPECT_EQ(n.other_parameters[1].count, 15U);
}

TEST(GraphLayers, TellWhoReadsTheSame) {
  const Network n = network(kLinear + "p = Gemm(x, a.weight)\nv = Reshape(x) shape=[2, 2, 8]\nq = Gemm(v, b.weight)\n");
  EXPECT_EQ(n.layers[1].x_of, "a");
}

TEST(GraphLayers, NeedDxWhereSomethingIsLearnedBehind) {
  EXPECT_FALSE(network(kLinear + "p = Gemm(x, a.weight)\n").layers[0].dx);
  const std::string table =
      "frozen parameter t [8]\ninput i bf16 [4, 8]\nh = Bias(i, t)\nparameter w [8, 2]\ny = Gemm(h, w)\n";
  EXPECT_FALSE(network(table).layers[0].dx);
  const std::string learned = "parameter t [8]\ninput i bf16 [4, 8]\nh = Bias(i, t)\n";
  EXPECT_TRUE(network(learned + "parameter w [8, 2]\ny = Gemm(h, w)\n").layers[0].dx);
  EXPECT_FALSE(network(learned + "boundary h\nparameter w [8, 2]\ny = Gemm(h, w)\n").layers[0].dx);
}

TEST(GraphLayers, LeaveHeadsAndProductsOfActivationsOut) {
  const Network n = network(kLinear + R"(
head parameter h.weight [8, 2]
p = Gemm(x, a.weight)
y = Gemm(p, h.weight)
z = MatMul(p, p) trans_b=1
)");
  EXPECT_EQ(n.layers.size(), 1U);
  EXPECT_EQ(compiler::count_parameters(n), 64U + 8 + 64 + 15);
}

/// Weights on the left are those of the transposed matrices; a matrix for each index of a batch is a group.
TEST(GraphLayers, AreMatricesThatMatMulReads) {
  const auto layers = [](const std::string &text) { return text_of(network(text)); };
  EXPECT_EQ(layers("parameter w [3, 5]\ninput x bf16 [5, 7]\ny = MatMul(w, x)"),
            "0 w: 7 5 3 x 1, no dX, X of '' or '', W of '', \n");
  EXPECT_EQ(layers("parameter w [2, 5, 3]\ninput x bf16 [2, 7, 5]\ny = MatMul(x, w)"),
            "0 w: 7 5 3 x 2, no dX, X of '' or '', W of '', \n");
  EXPECT_EQ(layers("parameter v [5, 3]\nparameter g [1, 3]\ninput x bf16 [7, 5]\nw = Mul(v, g)\ny = Gemm(x, w)"),
            "0 v: 7 5 3 x 1, no dX, X of '' or '', W of '', \n");
}

/// Commas part the names that a command takes.
TEST(GraphLayers, HaveNamesThatAListCanHave) {
  const Network named = network("input x bf16 [1, 1]\nparameter 'a,b.weight' [1, 1]\nparameter a_b [1, 1]\nh = Gemm(x, "
                                "a_b)\ny = Gemm(h, 'a,b.weight')");
  ASSERT_EQ(named.layers.size(), 2U);
  EXPECT_EQ(named.layers[0].name, "a_b");
  EXPECT_EQ(named.layers[1].name, "a_b_2");
}

TEST(GraphLayers, RefuseWhatNoCompilerTakes) {
  EXPECT_EQ(error_of("input x bf16 [2, 3]\n"),
            "net.graph: no op is a product with weights (Conv, Gemm, MatMul, ...), so the network has no layers");
  EXPECT_EQ(error_of("input x bf16 [16777217, 1]\nparameter w [1, 1]\ny = Gemm(x, w)"),
            "net.graph:3: M = 16777217 is out of range; give a whole number from 1 to 16777216");
}

} // namespace
} // namespace gradweave::graph
