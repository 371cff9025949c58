// The networks of models/ as whole graphs: each has the gradients of all that it learns, and a text.
#include "graph/build/verify.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/edges.hpp"
#include "graph/passes/gradient.hpp"
#include "graph/text/print.hpp"
#include "graph/text/read.hpp"
#include "tests/graph/same_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::graph {
namespace {

std::vector<std::filesystem::path> networks() {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator("models"))
    if (entry.path().extension() == ".graph") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::size_t learned_parameters(const Graph &graph) {
  return static_cast<std::size_t>(std::count_if(graph.tensors.begin(), graph.tensors.end(), [](const Tensor &t) {
    return t.role == Role::kParameter && !t.frozen;
  }));
}

/// A parameter that the loss does not depend on would have none: something is not connected.
TEST(GraphNetworks, HaveGradientsOfAllParameters) {
  EXPECT_GE(networks().size(), 17U);
  for (const auto &file : networks()) {
    SCOPED_TRACE(file.string());
    Graph graph = compiler::load_graph(file);
    const std::size_t parameters = learned_parameters(graph);
    EXPECT_EQ(add_gradients(graph, operators()).size(), parameters);
    assign_edges(graph, operators());
    EXPECT_NO_THROW(verify(graph));
  }
}

/// Counts of torchvision (CNNs) and of the transformers library (BERT, XLNet), without heads; those of the two networks
/// of C.-Y. Tsai 2021, whose layer lists are not published, layer by layer.
TEST(GraphNetworks, HaveAsManyParametersAsPublished) {
  constexpr std::uint64_t kWidthOfBoth = 1024, kWidthSquared = kWidthOfBoth * kWidthOfBoth, kInner = 2048;
  // Nine cells of four gates that read two widths, or three (four of them), and the attention.
  constexpr std::uint64_t kGnmt =
      9 * 4 * (2 * kWidthSquared + kWidthOfBoth) + 4 * 4 * kWidthSquared + 2 * kWidthSquared + kWidthOfBoth;
  constexpr std::uint64_t kProjection = kWidthSquared + kWidthOfBoth,
                          kFeedForward = 2 * kWidthOfBoth * kInner + kInner + kWidthOfBoth,
                          kScaleAndShift = 2 * kWidthOfBoth;
  constexpr std::uint64_t kTransformer = 6 * (4 * kProjection + kFeedForward + 2 * kScaleAndShift) +
                                         6 * (8 * kProjection + kFeedForward + 3 * kScaleAndShift);
  for (const auto &[name, parameters] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"resnet50", 25557032},
                                                          {"mobilenet_v2", 3504872},
                                                          {"inception_v3", 23834568},
                                                          {"resnext50", 25028904},
                                                          {"faster_rcnn_c4", 13290102},
                                                          {"dlrm_bags", 8823169},
                                                          {"bert_base", 109482240},
                                                          {"xlnet_large", 360267776},
                                                          {"gnmt", kGnmt},
                                                          {"transformer", kTransformer}}) {
    const Graph graph = compiler::load_graph("models/" + name + ".graph");
    EXPECT_EQ(count_parameters(graph) - count_head_parameters(graph), parameters) << name;
    if (graph.published) {
      EXPECT_EQ(*graph.published, parameters) << name;
    }
  }
}

TEST(GraphNetworks, ArePrintedAndReadBackEqual) {
  for (const auto &file : networks()) {
    const Graph graph = compiler::load_graph(file);
    EXPECT_EQ(difference(graph, read_graph(print_graph(graph), file.string(), operators())), "") << file;
  }
}

/// Nothing of the forward pass is computed for nothing, but for what operators give besides.
TEST(GraphNetworks, ReadWhatTheyCompute) {
  for (const auto &file : networks()) {
    const Graph graph = compiler::load_graph(file);
    const std::vector<std::vector<OpId>> readers = graph.consumers();
    for (const Op &op : graph.ops) {
      const TensorId first = op.outputs.front();
      const bool wanted = std::find(graph.results.begin(), graph.results.end(), first) != graph.results.end() ||
                          first == graph.loss || !readers[first].empty();
      EXPECT_TRUE(wanted) << file << " " << graph.tensors[first].name;
    }
  }
}

} // namespace
} // namespace gradweave::graph
