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
