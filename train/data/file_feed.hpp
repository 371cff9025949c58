// Inputs of a network from files of tensors.
#pragma once

#include "train/data/feed.hpp"

#include <filesystem>
#include <memory>

namespace gradweave::runtime::train {

/// Feeds what files hold: `input` the inputs, `target` what the loss compares the results with; either may hold both,
/// by name, and either may be empty. A file of one tensor need not have the name. Tensors lie as the network's own file
/// has them (Tensor::origin), and have the input's shape but for the first dimension: batches follow one another along
/// it, what fills none at the end is left out, and behind the last batch comes the first. Throws DataError naming the
/// file and the tensor if one is missing, unknown or of another shape or type, or the numbers of batches differ;
/// ConfigError if a file cannot be read.
std::unique_ptr<Feed> file_feed(const graph::Graph &forward, const std::filesystem::path &input,
                                const std::filesystem::path &target);

} // namespace gradweave::runtime::train
