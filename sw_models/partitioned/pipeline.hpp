// Beyond equation 3: what a mini-batch takes if both ways are pipelined over micro-batches, if unequal devices share
// whole images, and if the NPU does the one beside the other. All three products of each image are computed. A model:
// nothing runs on devices.
#pragma once

#include "sw_models/partitioned/partition.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::partitioned {

/// Between near-storage devices and NPU, each direction by itself; bytes in a cycle of the devices' clock.
struct Links {
  double device_rate = 4;       ///< of a near-storage device's link
  double root_rate = 16;        ///< of all of them together
  double latency = 500;         ///< cycles from the last byte's departure to the next stage's start
  double flash_rate = 3;        ///< of a near-storage device's flash
  double flash_latency = 60000; ///< cycles to the first block
  double block_bytes = 4096;    ///< flash is read in such blocks
  double map_bytes = 2;         ///< of an element that crosses the cut
  double weight_bytes = 4;      ///< of a gradient that devices exchange
  double image_bytes = 0;       ///< of an image in the flash
  double loss_cycles = 0;       ///< of the host's loss, a micro-batch
};

/// Throws std::invalid_argument for a rate, a block or an element's size that is not above 0, or a negative time.
void check(const Links &links);

/// One mini-batch.
struct Schedule {
  std::size_t cut = 0;
  std::uint32_t micro = 1;  ///< images of a near-storage device in a micro-batch
  std::uint32_t depth = 1;  ///< micro-batches that a near-storage device keeps at most, forwards done and backwards not
  std::uint32_t groups = 0; ///< of images that the NPU takes through all layers, while it waits for micro-batches
  std::uint32_t group = 1;  ///< images of such a group, which go through a layer together

  std::uint32_t own() const { return groups * group; }
};

struct PipelineRun {
  Schedule schedule;
  double cycles = 0;
  double storage_busy = 0, host_busy = 0; ///< cycles in which arrays of a device, of the NPU compute
  double up_busy = 0, down_busy = 0;      ///< in which maps, and their gradients, cross the cut
  double flash_busy = 0;                  ///< in which a device's flash is read
  double exchange = 0;                    ///< of gradients, behind all else
  double saving = 0;                      ///< percent of alone()

  /// Cycles in which a device, the NPU waits for the other, before the exchange.
  double storage_bubble() const { return cycles - exchange - storage_busy; }
  double host_bubble() const { return cycles - exchange - host_busy; }
};

/// One forward, one backward (1F1B): a device runs `depth` micro-batches forwards, then one backwards and one forwards
/// in turn; the NPU runs each forwards and at once backwards, and while none is there, layer by layer, groups of its
/// own. Both links and the flash are in order and run beside the arrays; images of the NPU's own are there, as they are
/// for alone(). With groups of its own the NPU takes part in the exchange. A cut of 0 is alone(). Throws
/// std::invalid_argument as phases() and check(), and for images that devices x micro do not divide, or of which none
/// is left to them, or a depth of 0.
PipelineRun pipeline(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch,
                     const Schedule &schedule);

/// What a search may try.
struct Search {
  std::vector<std::uint32_t> micros = {1, 2, 4, 8, 16, 32};
  std::uint32_t most_depth = 16;
  std::uint32_t group = 0; ///< Schedule::group; 0: the NPU takes no images of its own
};

/// The fastest pipeline over all cuts, depths, images of the NPU's own and those micro-batches that divide the others,
/// or the NPU alone if none is faster.
PipelineRun best_pipeline(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch,
                          const Search &search);

/// Images by speed: each near-storage device takes `shares` images through the whole network, the NPU the others; all
/// exchange all gradients in a ring.
struct Shares {
  std::uint32_t share = 0; ///< images of a near-storage device
  double cycles = 0, exchange = 0;
  double saving = 0; ///< percent of alone()
};
Shares best_shares(const Workload &workload, std::uint32_t devices, const Links &links, std::uint32_t batch);

/// Percent of alone() that no assignment of products to devices can save more than: each product of each layer where it
/// is best, in fractions, all devices busy to the end, nothing to move.
double most_saving(const Workload &workload, std::uint32_t devices);

} // namespace gradweave::partitioned
