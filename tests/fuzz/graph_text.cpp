// Graphs as text (models/README.md): read, printed and read back, and as a list of layers.
#include "graph/ir/error.hpp"
#include "graph/layers.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/print.hpp"
#include "graph/text/read.hpp"
#include "tests/fuzz/network_checks.hpp"

namespace gradweave::fuzz {
namespace {

using graph::Graph;

void require_read_back(const Graph &graph) {
  const std::string text = graph::print_graph(graph);
  try {
    if (graph::print_graph(graph::read_graph(text, "printed", graph::operators())) != text)
      finding("a graph that is read back as another:\n" + text);
  } catch (const graph::GraphError &rejection) {
    finding(rejection.what() + (" in a graph that was printed:\n" + text));
  }
}

void parse_graph(std::string_view text, const graph::Variables &variables) {
  Graph graph;
  try {
    graph = graph::read_graph(text, "net.graph", graph::operators(), variables);
  } catch (const graph::GraphError &rejection) {
    return require_place(rejection, "net.graph");
  }
  require_read_back(graph);
  try {
    require_sound(graph::network_of(graph, "net.graph"));
  } catch (const ConfigError &rejection) {
    require_place(rejection, "net.graph");
  }
}

} // namespace
} // namespace gradweave::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = gradweave::fuzz::text_of(data, size);
  gradweave::fuzz::parse_graph(text, {});
  gradweave::fuzz::parse_graph(text, {{"batch", 3}});
  return 0;
}
