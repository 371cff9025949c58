// Which devices are to train which layers of which images: a search whose judge is the exact timing model of the
// system.
#pragma once

#include "train/system/system_step.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

struct TriedPartition {
  std::string what; ///< for people: "npu alone", "images by speed", "cut 2", "found"
  PartitionConfig partition;
  std::uint64_t ps = 0; ///< of a step
};

struct PartitionSearch {
  std::vector<TriedPartition>
      tried; ///< each device alone, the fastest first; images by speed, the best single cut, the file's; found last
  std::uint64_t evaluations = 0; ///< steps that were compiled and timed

  const TriedPartition &found() const { return tried.back(); }
};

/// Tries, with the devices of the system's routes: each of them alone; images by speed (each takes whole images, as
/// many as its time alone says); each cut that routes of two devices can have in common; the file's partition. From the
/// best of them, and then from the others, it goes on, change by change, as long as steps become shorter: a cut of a
/// route by a layer, half or twice as many micro-batches, an image from a route to another, the order, images that the
/// last device takes whole, a route of whole images that goes on to it. So the result is never slower than any of the
/// former. Partitions that a memory is too small for, or that cannot be, are left out. At most `budget` steps are
/// timed. The same input gives the same result. Throws std::invalid_argument if no partition can be.
PartitionSearch search_partition(const graph::Graph &forward, const SystemConfig &system,
                                 const graph::TrainingOptions &options, const compiler::CompileOptions &compile,
                                 std::uint64_t budget, SystemCaches &caches);

/// "ssd0 0-1, npu 2-; ssd1 0-2, npu 3-; 4 micro-batches, backward_first, eager_moves".
std::string to_string(const PartitionConfig &partition, const SystemConfig &system);

} // namespace gradweave::runtime::train
