// A network cut in two over near-storage devices and an NPU: equation 3 of Y. Jang et al. (cycles.hpp). Layers before
// the cut run on S near-storage devices, each with its part of the mini-batch; the others on the NPU. Forwards both
// work at a time, backwards one after the other.
#pragma once

#include "sw_models/partitioned/cycles.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::partitioned {

/// A network on both kinds of devices.
struct Workload {
  std::vector<LayerCycles> storage, host; ///< of an image, by layers
  std::vector<double> weights;            ///< elements, by layers
  std::vector<double> maps; ///< elements of an image that pass a cut before layer 0, 1, ... and behind the last one

  // Where cycles of an image differ by how many there are at a time, as measured ones do; empty: as `host`.
  std::vector<LayerCycles> own = {};   ///< in a group that the NPU takes through all layers beside micro-batches
  std::vector<LayerCycles> whole = {}; ///< on the NPU that takes whole images only

  std::size_t layers() const { return host.size(); }
  const std::vector<LayerCycles> &of_own() const { return own.empty() ? host : own; }
  const std::vector<LayerCycles> &of_whole() const { return whole.empty() ? host : whole; }
};

/// The same with cycles of the formula. `maps` is left as it is given.
Workload workload_of(const std::vector<LayerShape> &layers, const std::vector<double> &maps, const Array &storage,
                     const Array &host, const Reading &reading);

/// How often dW is computed.
enum class Accounting : std::uint8_t {
  kReduced,  ///< the paper's: once a mini-batch, on maps that were added up before; not the gradient
  kPerImage, ///< the gradient: all three products of each image
};

/// What a weight crosses until all devices have the sum of its gradients, as a factor of its size.
enum class Exchange : std::uint8_t {
  kRing,   ///< 2 (S - 1) / S: reduce-scatter and gather in a ring
  kGather, ///< 2 (S - 1): to one device and back, one after another
  kOnce,   ///< 1, however many devices
};

struct System {
  std::uint32_t devices = 4;     ///< near storage, S
  double exchange_cycles = 2.75; ///< that a weight takes, times the factor; fitted to table 4
  Exchange exchange = Exchange::kRing;
  double map_cycles = 0;     ///< T_PCIe: that an element takes over the cut, one way
  bool backward_map = false; ///< gradients of maps take them, too; equation 3 has one T_PCIe
};

/// Cycles of a mini-batch.
struct Phases {
  double forward_storage = 0, forward_host = 0; ///< at the same time
  double map = 0;                               ///< over the cut
  double backward_host = 0, backward_storage = 0;
  double update_host = 0, update_storage = 0; ///< dW
  double exchange = 0;                        ///< of gradients between devices

  double forward() const { return forward_storage > forward_host ? forward_storage : forward_host; }
  double hidden() const { return forward_storage + forward_host - forward(); }
  double total() const {
    return forward() + map + backward_host + backward_storage + update_host + update_storage + exchange;
  }
};

/// With layers 0 to cut - 1 on the devices. Throws std::invalid_argument: cut beyond the network; no devices; a batch
/// that they do not divide; vectors of a workload that do not fit together.
Phases phases(const Workload &workload, const System &system, std::uint32_t batch, std::size_t cut,
              Accounting accounting);

/// Cycles on the NPU alone, which has no exchange and waits for no image (section 4.1: the next mini-batch is
/// prefetched).
double alone(const Workload &workload, std::uint32_t batch, Accounting accounting);

struct Cut {
  std::size_t index = 0;
  double saving = 0; ///< percent of alone()
  Phases phases;
};

/// The cut that takes least time, the first of equal ones; behind the last layer and before the first are cuts, too.
Cut best_cut(const Workload &workload, const System &system, std::uint32_t batch, Accounting accounting);

/// The factor of Exchange.
double exchange_factor(Exchange exchange, std::uint32_t devices);

/// Throws std::invalid_argument if a workload's vectors do not fit together.
void check(const Workload &workload);
/// Throws std::invalid_argument: no devices, or a batch that they do not divide.
void check_devices(std::uint32_t devices, std::uint32_t batch);

} // namespace gradweave::partitioned
