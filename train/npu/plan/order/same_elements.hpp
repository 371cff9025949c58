// Ops that change no element's value, and so may be nothing but another view of a place.
#pragma once

#include "graph/ir/graph.hpp"
#include "train/product_plan.hpp"

#include <cstddef>
#include <vector>

namespace gradweave::runtime::train {

/// Whether a run is for this tensor: the loss, or another of the graph's results.
bool is_result(const graph::Graph &graph, graph::TensorId id);

/// A tensor that lies in the place of another of as many elements.
struct View {
  graph::TensorId tensor = graph::kNone, of = graph::kNone;
  std::vector<std::size_t> strides; ///< of `tensor`, by dimension, in elements of `of`; empty: as that lies
};

/// For ops in order, the views that make them do nothing. `keeps`: of each tensor, that its place is taken by another
/// value before the step ends, so that there is no view of it.
struct Views {
  std::vector<View> views;
  std::vector<graph::OpId> ops; ///< that have nothing to do
};
Views find_views(const graph::Graph &graph, const ProductPlan &products);

} // namespace gradweave::runtime::train
