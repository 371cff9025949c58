// Whether two graphs are one, but for the lines that they come from.
#pragma once

#include "graph/ir/operator.hpp"

#include <fmt/format.h>

#include <string>

namespace gradweave::graph {

/// The first thing that is not equal; empty: all is.
inline std::string difference(const Graph &a, const Graph &b) {
  if (a.name != b.name || a.description != b.description || a.source != b.source || a.published != b.published)
    return "the header";
  if (a.results != b.results || a.loss != b.loss) return "results or loss";
  if (a.tensors.size() != b.tensors.size() || a.ops.size() != b.ops.size() || a.updates.size() != b.updates.size())
    return "the numbers of tensors, ops or updates";
  for (std::size_t i = 0; i < a.updates.size(); ++i)
    if (a.updates[i].tensor != b.updates[i].tensor || a.updates[i].next != b.updates[i].next) return "an update";
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i], &y = b.tensors[i];
    if (x.name != y.name || x.type != y.type || x.shape != y.shape || x.role != y.role || x.producer != y.producer ||
        x.values != y.values || x.initial != y.initial || x.frozen != y.frozen || x.fixed_type != y.fixed_type ||
        x.head != y.head || x.boundary != y.boundary)
      return fmt::format("tensor {}, '{}' and '{}'", i, x.name, y.name);
  }
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const Op &x = a.ops[i], &y = b.ops[i];
    if (x.type != y.type || x.name != y.name || x.inputs != y.inputs || x.outputs != y.outputs ||
        !(x.attributes == y.attributes) || x.recompute != y.recompute)
      return fmt::format("op {}, '{}' and '{}'", i, x.name, y.name);
  }
  return {};
}

} // namespace gradweave::graph
