// A layer in keys of caches and journals.
#pragma once

#include "graph/network.hpp"

#include <string>

namespace gradweave::compiler {

/// What a compiled stream depends on: "512x312x1200x1,no dX".
std::string shape_text(const Layer &layer);

/// What the data of a run depend on, too: the name, and the convolution that the layer was made from.
std::string layer_text(const Layer &layer);

} // namespace gradweave::compiler
