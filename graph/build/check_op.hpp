// The checks of a single op, which the builder makes of what it adds and verify() of what there is.
#pragma once

#include "graph/build/inference.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace gradweave::graph {

using Fail = std::function<void(std::string_view)>; ///< throws

/// Calls `fail` unless the rank is at most Shape::kMaxRank, no dimension is 0, and the elements are at most 2^40.
void check_shape(const Shape &shape, const Fail &fail);

/// Whether a number that is none of the infinities is one in fp32.
bool exceeds_fp32(double value);

/// Fills in attributes that are left out. Throws GraphError naming one that is missing, unknown or of another kind.
void complete_attributes(Op &op);

/// The shapes of the outputs, after all checks of inputs, attributes and shapes. Throws GraphError.
std::vector<Shape> check_op(const Graph &graph, const Op &op);

/// The element type of an output as long as no pass has looked at its consumers: what is not an index is fp32, or as
/// the inputs are.
ElementType first_type(const Graph &graph, const Op &op, Gives gives);

/// Calls `fail` unless the update is of a parameter or state, of equal shape and type, and the only one.
void check_update(const Graph &graph, const Update &update, const Fail &fail);

} // namespace gradweave::graph
