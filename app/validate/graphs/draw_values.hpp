// Shapes and attribute values that an operator may take. They are guesses: Operator::infer refuses what is illegal.
#pragma once

#include "app/validate/graphs/choices.hpp"
#include "graph/ir/operator.hpp"

#include <optional>
#include <vector>

namespace gradweave::graphs {

/// What a network gives in: one to five dimensions, many of them 1; about half of them images.
graph::Shape draw_shape(Choices &choices);

/// An image of nearly so many elements: a small scratchpad does not hold it, and sums over its pixels may have parts.
graph::Shape draw_large_image(Choices &choices, std::size_t elements);

/// The shape of an input behind the first one, whose shape is `first`: the same, a part that broadcasts, a vector of
/// the last dimension, weights of a product or of a convolution, another length of one axis, rows of labels. What the
/// input takes tells which are likely.
graph::Shape draw_shape_beside(Choices &choices, graph::Takes takes, const graph::Shape &first);

/// A value for an attribute of an op whose first input is of shape `first`; none: the default. `outputs`: of an op that
/// splits. The name of an attribute tells what it counts (names are ONNX's); one that is not known here is drawn by its
/// kind, a text from those that the attribute's summary quotes.
std::optional<graph::Attribute> draw_attribute(Choices &choices, const graph::AttributeSpec &spec,
                                               const graph::Shape &first, std::size_t outputs);

} // namespace gradweave::graphs
