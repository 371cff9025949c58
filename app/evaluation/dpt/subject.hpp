// A network as the model takes it: shapes of its layers, and what passes a cut between them.
#pragma once

#include "app/evaluation/unit/evaluations.hpp"
#include "graph/ir/graph.hpp"
#include "graph/network.hpp"
#include "sw_models/partitioned/partition.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::evaluation::dpt {

struct Subject {
  std::vector<partitioned::LayerShape> layers; ///< none while nothing is known
  std::vector<double> maps;                    ///< as of partitioned::Workload

  bool known() const { return !layers.empty(); }
};

/// Asks for the network, of a batch of 1 or so many rows of its layers.
Subject subject(Evaluations &evaluations, const std::string &model, std::uint32_t batch = 1);

/// A layer of one image as the model takes it. Throws ConfigError naming `file` and the layer for a convolution whose
/// kernel or stride differs along the sides, that has groups or dilation.
partitioned::LayerShape shape_of(const compiler::Layer &layer, const std::string &file);

/// Elements of an image that a cut before each layer, and behind the last, has to hand over: what is computed before
/// and read behind, and of the first layer what it reads. Layers are those of graph::network_of().
std::vector<double> maps_of(const graph::Graph &graph);

/// The same network with the stride of a stage in its first 3 x 3 convolution, not in the 1 x 1 before it: "v1.5" of
/// ResNet-50.
std::vector<partitioned::LayerShape> with_late_strides(std::vector<partitioned::LayerShape> layers);

} // namespace gradweave::evaluation::dpt
