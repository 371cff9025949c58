// Networks that tests train.
#pragma once

#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/config/machine.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace gradweave::runtime::train {

inline Machine npu_of(const std::string &name) { return load_machine("configs/" + name + ".toml"); }

/// x w + b
inline graph::TensorId add_dense(graph::Builder &build, graph::TensorId x, std::uint32_t out, const std::string &name) {
  const std::uint32_t in = build.shape(x).cols();
  const graph::TensorId w = build.parameter(name + ".w", {in, out}, "kaiming_uniform");
  const graph::TensorId b = build.parameter(name + ".b", {out}, "zeros");
  const graph::TensorId y = build.add("Gemm", {x, w}, {}, name);
  return build.add("Bias", {y, b}, {}, name + ".bias");
}

inline void add_loss(graph::Builder &build, graph::TensorId logits, std::uint32_t batch) {
  const graph::TensorId labels = build.input("labels", graph::ElementType::kInt32, {batch});
  graph::Graph &graph = build.graph();
  graph.loss = build.add("SoftmaxCrossEntropy", {logits, labels}, {}, "loss");
  graph.results = {logits};
}

/// A perceptron of these widths, the first of which is the input's and the last the classes'. Of what a layer gives to
/// the next one, a part is dropped; 0: no part, and the network has no Dropout.
inline graph::Graph perceptron(std::uint32_t batch, const std::vector<std::uint32_t> &widths, double dropped = 0) {
  graph::Graph graph;
  graph.name = "perceptron";
  graph::Builder build(graph, graph::operators());
  graph::TensorId x = build.input("images", graph::ElementType::kFp32, {batch, widths[0]});
  const graph::TensorId key = dropped > 0 ? build.input("key", graph::ElementType::kInt32, {2}) : graph::kNone;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (i > 1) x = build.add("Relu", {x}, {}, fmt::format("relu{}", i - 1));
    if (i > 1 && dropped > 0)
      x = build.add("Dropout", {x, key}, {{"ratio", dropped}, {"stream", static_cast<std::int64_t>(i)}},
                    fmt::format("drop{}", i - 1));
    x = add_dense(build, x, widths[i], fmt::format("fc{}", i));
  }
  add_loss(build, x, batch);
  return graph;
}

} // namespace gradweave::runtime::train
