// ONNX files (docs/onnx.md): bytes become a graph, with its layers, or are refused. There is no file beside them:
// values that lie in others are not read.
#include "graph/ir/error.hpp"
#include "graph/layers.hpp"
#include "graph/onnx/file/parse.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"
#include "tests/fuzz/network_checks.hpp"

namespace gradweave::fuzz {
namespace {

/// A parameter's values are as many as its elements, wherever they lay in the file.
void require_origins(const graph::Graph &graph) {
  for (const graph::Tensor &tensor : graph.tensors) {
    if (!tensor.origin) continue;
    require(tensor.origin->shape.elements() == tensor.shape.elements() &&
                tensor.origin->cut.elements() == tensor.shape.elements(),
            "a tensor that has other elements than in its file");
    const std::size_t values = tensor.origin->values.size();
    require(values == 0 || values == tensor.shape.elements(), "a parameter with other values than elements");
  }
}

void import_bytes(std::string_view bytes, const graph::onnx::ImportOptions &options) {
  graph::Graph graph;
  try {
    graph =
        graph::onnx::import_model(graph::onnx::parse_model(bytes, "net.onnx"), "net.onnx", graph::operators(), options);
  } catch (const graph::GraphError &rejection) {
    return require_place(rejection, "net.onnx");
  }
  require(!graph.results.empty(), "a graph without a result");
  require_origins(graph);
  try {
    require_sound(graph::network_of(graph, "net.onnx"));
  } catch (const ConfigError &rejection) {
    require_place(rejection, "net.onnx");
  }
}

} // namespace
} // namespace gradweave::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view bytes = gradweave::fuzz::text_of(data, size);
  gradweave::fuzz::import_bytes(bytes, {});
  gradweave::graph::onnx::ImportOptions options;
  options.batch = 3;
  options.values = false;
  gradweave::fuzz::import_bytes(bytes, options);
  return 0;
}
