// What a step's inputs are filled with.
#pragma once

#include "graph/golden/execution.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// Values of an input of the forward graph.
struct Fed {
  graph::TensorId input = graph::kNone;
  graph::Buffer<graph::Contract> values;
};

/// Fills the inputs of a forward graph, batch after batch.
class Feed {
public:
  Feed() = default;
  Feed(const Feed &) = delete;
  Feed &operator=(const Feed &) = delete;
  virtual ~Feed() = default;

  /// All inputs for the batch of this number, from 0; the same number gives the same values.
  virtual std::vector<Fed> batch(std::uint64_t number) const = 0;
  /// Batches until all data has been seen once; 0: there is no end to them.
  virtual std::uint64_t batches_an_epoch() const = 0;
};

} // namespace gradweave::runtime::train
