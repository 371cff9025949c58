// Keys of Dropout: inputs that are no data.
#pragma once

#include "train/data/fed.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// Inputs that nothing but Dropouts read, as their keys.
std::vector<graph::TensorId> dropout_keys(const graph::Graph &forward);

/// A feed that also fills the keys that `feed` leaves out: with [seed, number of the batch], of which the lower 32 bits
/// count. So each batch has masks of its own, the same whenever it is asked for.
std::unique_ptr<Feed> with_dropout_keys(const graph::Graph &forward, std::uint64_t seed, std::unique_ptr<Feed> feed);

} // namespace gradweave::runtime::train
