// A layer in keys of caches and journals.
#pragma once

#include "base/key/fingerprint.hpp"
#include "graph/network.hpp"

namespace gradweave::compiler {

/// What a compiled stream depends on: the layer's extents, and whether it needs dX.
Fingerprint shape_fingerprint(const Layer &layer);

/// What the data of a run depend on, too: the name, and the convolution that the layer was made from.
Fingerprint fingerprint(const Layer &layer);

} // namespace gradweave::compiler
