// In which order a step's ops run, and which go together.
#pragma once

#include "compiler/items/item_group.hpp"
#include "graph/ir/graph.hpp"
#include "train/npu/plan/order/same_elements.hpp"
#include "train/product_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace gradweave::runtime::train {

/// Passes of products, a product that is the vector unit's, operators that follow one another with no product between
/// them, or a group of ops that goes item by item: all but passes are one section.
struct Station {
  std::vector<std::size_t> passes; ///< of the product plan
  std::vector<graph::OpId> ops;    ///< operators
  bool by_indices = false;         ///< the one operator there is takes rows that a batch names
  bool by_areas = false; ///< the one operator there is has areas of its own: a depthwise convolution's, or a pooling
  std::optional<std::size_t> group = std::nullopt; ///< which item group; then there is nothing else
};

/// Operators that run on the tiles of a product's result, or a sum over the rows of its operand, while these are in the
/// scratchpad.
struct PassEpilogue {
  graph::TensorId of = graph::kNone; ///< a result of the pass; of a sum an operand
  std::vector<graph::OpId> ops;      ///< ascending; the sum alone
  bool is_sum = false;
};
using Epilogues = std::vector<std::vector<PassEpilogue>>; ///< of each pass

struct StepOrder {
  std::vector<Station> stations;
  std::vector<std::uint32_t> station_of; ///< of each op; of those that have nothing to do: of what comes next
};

/// In the order of the graph; a group stands where its last op does. What is lowered to a product and has no pass is
/// the vector unit's. An operator that reads a view of what another of its station gives begins a new one. Operators of
/// an epilogue are at the station of their pass, and no ops of a station. `epilogues`: none, or of each pass. `apart`:
/// operators that have areas of their own.
StepOrder order_step(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                     const std::vector<compiler::ItemGroup> &groups = {}, const Epilogues &epilogues = {},
                     const std::set<graph::OpId> &apart = {});

} // namespace gradweave::runtime::train
