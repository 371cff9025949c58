// Inputs of a network from tensors in files or in memory.
#pragma once

#include "train/data/feed.hpp"
#include "train/data/tensor_source.hpp"

#include <memory>

namespace gradweave::runtime::train {

/// Feeds what there is: `input` the inputs, `target` what the loss compares the results with; either may have both, by
/// name, and either may be missing. One tensor alone need not have the name. Tensors lie as the network's own file has
/// them (Tensor::origin), and have the input's shape but for the first dimension: batches follow one another along it,
/// what fills none at the end is left out, and behind the last batch comes the first. A key of Dropout that is not
/// given is [seed, number of the batch]. Throws DataError naming the source and the tensor if one is missing, unknown
/// or of another shape or type, or the numbers of batches differ; ConfigError if a file cannot be read.
std::unique_ptr<Feed> tensor_feed(const graph::Graph &forward, const TensorSource &input, const TensorSource &target,
                                  std::uint64_t seed);

} // namespace gradweave::runtime::train
