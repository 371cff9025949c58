// Which ops of a network look rows up in embedding tables, and what of it can be done where the tables lie.
#pragma once

#include "graph/ir/operator.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// Whether an op takes rows of a parameter: Gather along the first axis.
bool looks_up(const Graph &graph, const Op &op);

/// Of each op of a forward graph, or of a step, the place at which it looks up, or works on nothing but what is looked
/// up there; else kNone. Tables are those parameters that such a Gather reads and nothing else of a forward graph; the
/// n-th, in the order of their look-ups, is at places[n mod their number]. With `reduced` all ops that are no products
/// and whose inputs are computed at one such place are at it, too, as a sum over a bag; else look-ups only. Without
/// places no op is.
std::vector<std::uint32_t> places_of_look_ups(const Graph &graph, const std::vector<std::uint32_t> &places,
                                              bool reduced);

} // namespace gradweave::graph
