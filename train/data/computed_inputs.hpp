// Inputs that follow from others (graph/ir/input_function.hpp).
#pragma once

#include "train/data/fed.hpp"

namespace gradweave::runtime::train {

/// Adds to `fed`, which has all others, the inputs of `forward` that follow from them. Throws DataError for values that
/// they cannot be computed of.
void add_computed(const graph::Graph &forward, std::vector<Fed> &fed);

} // namespace gradweave::runtime::train
