// Pooling on the vector unit by areas of its own, run and compared with golden execution.
#pragma once

#include "base/random/dice.hpp"
#include "compiler/pooling/pooling.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/section.hpp"
#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradweave::compiler {

constexpr const char *kPoolings[] = {"MaxPool", "AveragePool"};

/// An image, its pooling, and the gradient of that; ops 0 and 1.
struct PoolingGraph {
  graph::Graph graph;

  PoolingGraph(const std::string &pooling, std::vector<std::uint32_t> image, const graph::Attributes &window) {
    graph::Builder build(graph, graph::operators());
    const graph::TensorId x = build.input("x", graph::ElementType::kBf16, graph::Shape(std::move(image)));
    const graph::TensorId y = build.add(pooling, {x}, window, "pool");
    const graph::TensorId dy = build.input("dy", graph::ElementType::kBf16, build.shape(y));
    graph::Attributes attributes = window;
    std::vector<graph::TensorId> inputs{dy, x};
    if (pooling != "MaxPool") {
      inputs = {dy};
      attributes.set("image", std::vector<std::int64_t>{build.shape(x)[1], build.shape(x)[2]});
    }
    const graph::TensorId dx = build.add(pooling + "Gradient", inputs, attributes, "pool_gradient");
    graph.tensors[y].type = graph::ElementType::kBf16;
    graph.tensors[dx].type = graph::ElementType::kFp32;
  }
};

/// A window of up to `most_kernel` rows and columns that fits a random image of up to `most_channels` channels, with
/// any stride and padding.
inline PoolingGraph random_pooling(Dice &dice, std::uint32_t most_channels, std::uint32_t most_kernel = 4) {
  const auto kernel = [&] { return static_cast<std::int64_t>(dice.between(1, most_kernel)); };
  const std::vector<std::int64_t> shape{kernel(), kernel()};
  const auto pad = [&](std::size_t axis) {
    return static_cast<std::int64_t>(dice.below(static_cast<std::uint64_t>(shape[axis])));
  };
  const std::vector<std::int64_t> pads{pad(0), pad(1), pad(0), pad(1)};
  const std::vector<std::int64_t> strides{dice.between(1, 3), dice.between(1, 3)};
  const auto side = [&](std::size_t axis) { return static_cast<std::uint32_t>(shape[axis]) + dice.between(0, 13); };
  const std::vector<std::uint32_t> image{dice.between(1, 3), side(0), side(1), dice.between(1, most_channels)};
  return {kPoolings[dice.below(2)], image, {{"kernel_shape", shape}, {"strides", strides}, {"pads", pads}}};
}

/// The first difference, or hazard; empty if there is none. Not even areas: "it has none".
inline std::string pooling_difference(const Machine &npu, const PoolingGraph &pooling, std::size_t which, Dice &dice,
                                      const RunStream &run = run_functional) {
  const graph::Op &op = pooling.graph.ops[which];
  const std::optional<AreaPlan> areas = pooling_areas(pooling.graph, op, npu);
  if (!areas) return "it has none";
  const NetworkStep step{"pooling", pooling.graph};
  const OpData data = random_data(pooling.graph, op, dice.chance(0.5) ? Values::kTame : Values::kSpecial, dice);
  const OpJobs jobs = lowered(pooling.graph, op, data);
  const SectionPlaces places(jobs);
  return section_difference(npu, {&step, &op}, data, jobs, section_commands(*areas, places.addresses, npu, 0), run);
}

/// The same of its jobs.
inline std::string pooling_jobs_difference(const Machine &npu, const PoolingGraph &pooling, std::size_t which,
                                           Dice &dice) {
  const graph::Op &op = pooling.graph.ops[which];
  const NetworkStep step{"pooling", pooling.graph};
  const OpData data = random_data(pooling.graph, op, Values::kTame, dice);
  const OpJobs jobs = lowered(pooling.graph, op, data);
  return section_difference(npu, {&step, &op}, data, jobs, job_commands(jobs, SectionPlaces(jobs).addresses, npu));
}

} // namespace gradweave::compiler
