// A training run between two steps, in a file: whoever goes on from it gets the bits of a run that nobody stopped.
#pragma once

#include "graph/tensor_file/safetensors.hpp"
#include "train/step_executor.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace gradweave::runtime::train {

/// What bits of the steps depend on, by names that users know: network, data, optimizer.
using RunIdentity = graph::FileMetadata;
/// The name of the step's fingerprint in it, which is another with most options.
inline constexpr const char *kNetwork = "network";

struct Checkpoint {
  std::uint64_t steps = 0;    ///< done
  std::vector<double> losses; ///< of each
  Living living;              ///< what the next step begins with, by tensor of the step's graph
};

/// Writes the file, a .safetensors, all or nothing: parameters, moments and state by their names in the graph; losses
/// as "gradweave.losses"; the identity, the steps, and a checksum of the tensors, as its metadata. Throws OutputError.
void write_checkpoint(const std::filesystem::path &file, const graph::Graph &step, const RunIdentity &run,
                      const Checkpoint &checkpoint);

/// Throws ConfigError: no checkpoint; one of another run, naming all that is different; a tensor is missing, or has
/// another shape; the checksum is not that of the tensors.
Checkpoint read_checkpoint(const std::filesystem::path &file, const graph::Graph &step, const RunIdentity &run);

} // namespace gradweave::runtime::train
