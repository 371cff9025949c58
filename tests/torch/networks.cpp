#include "tests/torch/networks.hpp"

#include "graph/build/builder.hpp"
#include "graph/compose/attention.hpp"
#include "graph/compose/interactions.hpp"
#include "graph/compose/lstm.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

using Numbers = std::vector<std::int64_t>;

TensorId dense(Builder &b, TensorId x, std::uint32_t outputs, const std::string &name) {
  const TensorId w = b.parameter(name + ".weight", {b.shape(x).cols(), outputs}, "normal");
  const TensorId y = b.add("Gemm", {x, w}, {}, name + ".product");
  return b.add("Bias", {y, b.parameter(name + ".bias", {outputs}, "zeros")}, {}, name);
}

TensorId batch_norm(Builder &b, TensorId x, const std::string &name) {
  const Shape channels{b.shape(x).cols()};
  const TensorId gamma = b.parameter(name + ".gamma", channels, "ones");
  const TensorId beta = b.parameter(name + ".beta", channels, "zeros");
  const TensorId mean = b.state(name + ".mean", channels), variance = b.state(name + ".variance", channels, "ones");
  return b.add("BatchNormalization", {x, gamma, beta, mean, variance}, {}, name);
}

TensorId layer_norm(Builder &b, TensorId x, const std::string &name) {
  const Shape width{b.shape(x).cols()};
  const TensorId gamma = b.parameter(name + ".gamma", width, "ones");
  return b.add("LayerNormalization", {x, gamma, b.parameter(name + ".beta", width, "zeros")}, {}, name);
}

struct Kernel3 {
  std::uint32_t outputs;
  std::int64_t stride = 1;
  std::uint32_t groups = 1;
};

TensorId convolution(Builder &b, TensorId x, Kernel3 k, const std::string &name) {
  const Shape w{k.groups, 3, 3, b.shape(x).cols() / k.groups, k.outputs / k.groups};
  return b.add(
      "Conv", {x, b.parameter(name + ".weight", w, "normal")},
      {{"strides", Numbers{k.stride, k.stride}}, {"pads", Numbers{1, 1, 1, 1}}, {"group", std::int64_t{k.groups}}},
      name);
}

void cross_entropy(Builder &b, TensorId logits, Shape rows) {
  const TensorId labels = b.input("labels", ElementType::kInt32, std::move(rows));
  b.graph().loss = b.add("SoftmaxCrossEntropy", {logits, labels}, {}, "loss");
}

/// A stem, a residual block with a stride, a depthwise layer, a transposed one, pooling of all kinds.
void small_cnn(Builder &b) {
  TensorId x = b.input("x", ElementType::kFp32, {3, 13, 14, 3});
  x = b.add("Relu", {batch_norm(b, convolution(b, x, {8}, "stem"), "stem.bn")}, {}, "stem.relu");
  x = b.add("MaxPool", {x},
            {{"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{2, 2}}, {"pads", Numbers{1, 1, 1, 1}}}, "pool");
  const TensorId left = batch_norm(b, convolution(b, x, {12, 2}, "block.a"), "block.a.bn");
  const TensorId right = b.add("AveragePool", {batch_norm(b, convolution(b, x, {12}, "block.b"), "block.b.bn")},
                               {{"kernel_shape", Numbers{2, 2}},
                                {"strides", Numbers{2, 2}},
                                {"pads", Numbers{0, 0, b.shape(x)[1] % 2, b.shape(x)[2] % 2}}},
                               "block.pool");
  x = b.add("Relu", {b.add("Add", {left, right}, {}, "block.sum")}, {}, "block.relu");
  x = b.add("LeakyRelu", {batch_norm(b, convolution(b, x, {12, 1, 12}, "depthwise"), "depthwise.bn")}, {},
            "depthwise.act");
  const TensorId up = b.parameter("up.weight", {2, 3, 3, 4, 6}, "normal");
  x = b.add("ConvTranspose", {x, up},
            {{"strides", Numbers{2, 2}},
             {"pads", Numbers{1, 1, 1, 1}},
             {"output_padding", Numbers{1, 0}},
             {"group", std::int64_t{2}}},
            "up");
  x = b.add("Resize", {x}, {{"scales", Numbers{2, 1}}}, "resize");
  x = b.add("Flatten", {b.add("GlobalAveragePool", {x}, {}, "mean")}, {}, "flat");
  cross_entropy(b, dense(b, x, 5, "classes"), {3});
}

void lstm(Builder &b) {
  const std::uint32_t steps = 7, batch = 3, features = 5, hidden = 6;
  const TensorId table = b.parameter("embedding", {11, features}, "normal");
  const TensorId x = b.add("Gather", {table, b.input("ids", ElementType::kInt32, {steps, batch})}, {}, "embedded");
  const LstmWeights weights{b.parameter("lstm.input", {features, 4 * hidden}, "normal"),
                            b.parameter("lstm.recurrent", {hidden, 4 * hidden}, "normal"),
                            b.parameter("lstm.bias", {4 * hidden}, "zeros")};
  const LstmState first{b.parameter("h", {batch, hidden}, "zeros"), b.parameter("c", {batch, hidden}, "zeros")};
  const LstmResult result = add_lstm(b, x, weights, first, "lstm");
  cross_entropy(b, dense(b, result.outputs, 11, "words"), {steps, batch});
}

/// Token and position embeddings, a transformer's block with a causal mask, and the head.
void gpt_block(Builder &b) {
  const std::uint32_t batch = 2, positions = 9, width = 12, words = 17;
  const TensorId ids = b.input("ids", ElementType::kInt32, {batch, positions});
  const TensorId tokens = b.add("Gather", {b.parameter("tokens", {words, width}, "normal"), ids}, {}, "embedded");
  TensorId x = b.add("Add", {tokens, b.parameter("positions", {positions, width}, "normal")}, {}, "residual.0");
  const TensorId qkv = dense(b, layer_norm(b, x, "norm.1"), 3 * width, "qkv");
  const std::vector<TensorId> parts =
      b.add_all("Split", {qkv}, {{"axis", std::int64_t{-1}}, {"split", Numbers(3, width)}}, "qkv.split", 3);
  const TensorId attended =
      add_attention(b, {parts[0], parts[1], parts[2], add_causal_mask(b, positions, "mask")}, 3, "attention");
  x = b.add("Add", {x, dense(b, attended, width, "projection")}, {}, "residual.1");
  const TensorId wide = dense(b, layer_norm(b, x, "norm.2"), 4 * width, "wide");
  const TensorId active = b.add("Gelu", {wide}, {{"approximate", std::string("tanh")}}, "gelu");
  x = b.add("Add", {x, dense(b, active, width, "narrow")}, {}, "residual.2");
  cross_entropy(b, dense(b, layer_norm(b, x, "norm.3"), words, "head"), {batch, positions});
}

/// Embeddings and dense features, their interactions, and a click to predict.
void dlrm_block(Builder &b) {
  const std::uint32_t batch = 5, width = 4;
  const TensorId numbers = b.input("numbers", ElementType::kFp32, {batch, 6});
  const TensorId bottom = b.add("Relu", {dense(b, numbers, width, "bottom")}, {}, "bottom.relu");
  std::vector<TensorId> features{b.add("Reshape", {bottom}, {{"shape", Numbers{0, 1, -1}}}, "bottom.feature")};
  for (int t = 0; t < 3; ++t) {
    const TensorId ids = b.input(fmt::format("ids.{}", t), ElementType::kInt32, {batch, 1});
    const TensorId table = b.parameter(fmt::format("table.{}", t), {7, width}, "normal");
    features.push_back(b.add("Gather", {table, ids}, {}, fmt::format("feature.{}", t)));
  }
  const TensorId all = b.add("Concat", features, {{"axis", std::int64_t{1}}}, "features");
  const TensorId pairs = add_interactions(b, all, "pairs");
  const TensorId top = b.add("Concat", {bottom, pairs}, {{"axis", std::int64_t{1}}}, "top.features");
  const TensorId click = b.input("click", ElementType::kFp32, {batch, 1});
  b.graph().loss = b.add("BinaryCrossEntropyWithLogits", {dense(b, top, 1, "top"), click}, {}, "loss");
}

} // namespace

Graph built_network(const std::string &name, const OperatorSet &operators) {
  Graph graph;
  graph.name = name;
  Builder b(graph, operators);
  if (name == "small_cnn")
    small_cnn(b);
  else if (name == "lstm")
    lstm(b);
  else if (name == "gpt_block")
    gpt_block(b);
  else if (name == "dlrm_block")
    dlrm_block(b);
  else
    b.fail(fmt::format("there is no network '{}'; there are small_cnn, lstm, gpt_block, dlrm_block", name));
  graph.results = {graph.loss};
  return graph;
}

} // namespace gradweave::graph
