// Groups of ops that compute a batch item by item: batched products, and operators between them.
#pragma once

#include "graph/ir/graph.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A product of a batch: C = A B for each item, A and B computed, or transposed.
struct BatchedProduct {
  std::size_t items = 1;
  std::uint32_t m = 1, n = 1, k = 1;
  bool transposed_a = false, transposed_b = false;
};
/// Empty if the op is none whose items are matrices one behind the other in all three tensors.
std::optional<BatchedProduct> batched_product(const graph::Graph &graph, graph::OpId op);

/// Ops of which all that they hand to each other may stay in the scratchpad, an item at a time, as far as their
/// operators are local to the items (lower_items() says whether they are).
struct ItemGroup {
  std::vector<graph::OpId> ops; ///< ascending
  std::size_t items = 1;
};

/// Finds groups by structure alone: products over the same batch that are linked by operators, read each other's
/// results, or share an operand. Where the last op of a group stands in the order of the graph all of it can run:
/// nobody else reads a result before. An operator is in a group only if a product of it reads, in the end, what the
/// operator gives. Each group has a product that reads what another op of it gives.
std::vector<ItemGroup> find_item_groups(const graph::Graph &graph);

} // namespace gradweave::compiler
