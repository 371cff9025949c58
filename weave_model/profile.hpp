// Profiles of networks on an NPU of systolic arrays, from shapes alone.
#pragma once

#include "graph/network.hpp"
#include "weave_model/layer.hpp"

#include <cstdint>

namespace gradweave::weave_model {

/// What a block of an array's PEs holds while the rest streams by.
enum class Stationary : std::uint8_t {
  kResults, ///< rows x cols results, for as many cycles as they have terms
  kWeights, ///< rows x cols weights, for as many cycles as the layer has lines; the next ones come in meanwhile
};

/// The PEs of an NPU, and what they compute with.
struct Arrays {
  std::uint32_t count = 1, rows = 1, cols = 1;
  double hertz = 1;
  std::uint32_t element_bytes = 1; ///< of a weight
  Stationary stationary = Stationary::kResults;

  /// Multiply-adds a second if all PEs always compute.
  double peak() const { return hertz * count * rows * cols; }
};

/// Seconds of a layer's products: blocks of rows x cols results, as many at a time as there are arrays, each for as
/// many cycles as a result has terms. What a block takes to fill and drain is left out, as blocks follow one another.
double layer_seconds(const compiler::Layer &layer, const Arrays &arrays);

/// All of the network's layers that have weights, each with all of its own, also where a layer before had the same.
/// Products of activations are no layers of the paper's, whose BERT-base has 12 x 6 and 3, and are left out.
Model profile_of(const compiler::Network &network, const Arrays &arrays);

} // namespace gradweave::weave_model
