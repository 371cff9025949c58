// Models of a few nodes, and what their import says.
#pragma once

#include "graph/ir/error.hpp"
#include "graph/onnx/import.hpp"
#include "graph/operators/table.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::graph::onnx {

inline std::string message(const std::function<void()> &act) {
  try {
    act();
  } catch (const GraphError &error) {
    return error.what();
  }
  return "nothing is wrong";
}

inline Node node(std::string type, std::vector<std::string> inputs, std::vector<std::string> outputs,
                 std::string name) {
  Node result;
  result.name = std::move(name);
  result.type = std::move(type);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

inline Blob weights(const std::string &name, std::vector<std::int64_t> dims) {
  Blob blob{name, DataType::kFloat, std::move(dims), {}};
  blob.bytes.assign(blob.elements() * 4, '\x3f'); // 0.747
  return blob;
}

/// y of x [n, 3, 8, 8] by the nodes.
inline Model model_of(std::vector<Node> nodes, std::vector<Blob> initializers = {}, DataType type = DataType::kFloat) {
  Model model;
  model.opsets[""] = 13;
  model.nodes = std::move(nodes);
  model.inputs = {{"x", type, std::vector<Dimension>{{0, "n"}, {3, ""}, {8, ""}, {8, ""}}}};
  model.outputs = {{"y", DataType::kFloat, std::nullopt}};
  model.initializers = std::move(initializers);
  return model;
}

inline std::string importing(Model model, const ImportOptions &options = {}) {
  return message([&] { import_model(std::move(model), "net.onnx", operators(), options); });
}

} // namespace gradweave::graph::onnx
