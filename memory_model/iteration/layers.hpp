// The layers of a graph, and the order in which they run.
#pragma once

#include "graph/ir/operator.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::memory_model {

inline constexpr std::uint32_t kNoLayer = 0xffffffff;

/// Ops of a forward graph by layers. A bias belongs to its product; what only gives a tensor another shape, order or
/// type belongs to none and moves nothing.
struct Layers {
  std::vector<std::uint32_t> of_op;              ///< kNoLayer: none
  std::vector<std::vector<graph::OpId>> members; ///< of each layer, ascending
};

/// Which ops only show their input's bytes.
struct Views {
  bool transposed = false; ///< those that let dimensions change places, too
};

/// Of the first `ops` of a graph.
Layers find_layers(const graph::Graph &graph, std::size_t ops, Views views);

/// For each tensor the one whose bytes it shows: itself but where an op only gives it another shape, order or type.
std::vector<graph::TensorId> shown_tensors(const graph::Graph &graph, Views views);

/// In depth first, where a layer that reads several others waits for the last of them (L. Wang et al.,
/// "Superneurons", 2018; section 4.2.2 of the thesis); successors, and layers that read none, in the order of the ops.
std::vector<std::uint32_t> execution_order(const graph::Graph &graph, const Layers &layers,
                                           const std::vector<graph::TensorId> &shown);

} // namespace gradweave::memory_model
