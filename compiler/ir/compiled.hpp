// What compilation gives: a checked command stream, and all that is known about it.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/reductions.hpp"
#include "compiler/request/jobs.hpp"
#include "isa/command.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// Bytes moved for one tensor, partial sums that spill included.
struct Traffic {
  std::uint64_t read_bytes = 0, write_bytes = 0;             ///< elements
  std::uint64_t read_bus_bytes = 0, write_bus_bytes = 0;     ///< whole bus beats
  std::uint64_t spill_read_bytes = 0, spill_write_bytes = 0; ///< share of read/write_bytes that is partial sums

  Traffic &operator+=(const Traffic &o) {
    read_bytes += o.read_bytes;
    write_bytes += o.write_bytes;
    read_bus_bytes += o.read_bus_bytes;
    write_bus_bytes += o.write_bus_bytes;
    spill_read_bytes += o.spill_read_bytes;
    spill_write_bytes += o.spill_write_bytes;
    return *this;
  }
};

/// Traffic of a layer, by tensor.
using LayerTraffic = std::array<Traffic, kTensorCount>;

/// What a command is for; one entry per command of the stream.
struct CommandInfo {
  Tensor tensor{};                ///< tensor moved, or the result of a GEMM
  bool spill = false;             ///< moves partial sums
  std::uint32_t row = 0, col = 0; ///< first element of the tile in that tensor
  std::uint32_t rows = 0, cols = 0;
  std::uint32_t red = 0;   ///< GEMM: first index of the reduction; ADD: of the part it adds
  std::uint32_t red_n = 0; ///< GEMM, ADD: length of the reduction; 0 for LOAD, STORE, SYNC
  std::uint32_t layer = 0; ///< index among the layers compiled together
};

/// Cycles that no schedule, tiling or timing can beat.
struct Bounds {
  std::uint64_t compute_cycles = 0; ///< array steps: blocks of results, each all terms of its reduction
  /// Each tensor of the pass moved once, in whole accesses at the DRAM's bandwidth; in a step, at the turn from the
  /// forward to the backward pass, all that both use but what the scratchpad holds once more. LOADs and STOREs a beat a
  /// cycle each.
  std::uint64_t traffic_cycles = 0;
  /// What any order of the products must move through a scratchpad of this size, at the DRAM's bandwidth
  /// (docs/compiler.md).
  std::uint64_t io_cycles = 0;
  /// The largest of these with what cannot overlap it: the fetch of commands, the latency of memory and array, the last
  /// STORE. No run takes less.
  std::uint64_t run_cycles = 0;
};

/// What the search of CompileOptions::tune did.
struct Tuning {
  std::uint64_t candidates = 0;    ///< plans tried; 0: no such search
  std::uint64_t simulated = 0;     ///< of those, run by the timing model; the others did not fit or could not be faster
  std::uint64_t improvements = 0;  ///< of those, faster than all before
  std::uint64_t cycles_before = 0; ///< of the plan that the search began with
  double seconds = 0;              ///< that it took

  Tuning &operator+=(const Tuning &o) {
    candidates += o.candidates;
    simulated += o.simulated;
    improvements += o.improvements;
    cycles_before += o.cycles_before;
    seconds += o.seconds;
    return *this;
  }
};

/// Layers compiled into one stream; often a single one.
struct Compiled {
  std::vector<Layer> layers; ///< in the order of the forward pass
  /// The only layer, or the first one.
  const Layer &layer() const { return layers.front(); }
  Jobs jobs = Pass::kBackward; ///< whose layers they are, and under which pass
  Schedule requested = Schedule::kSequential;
  Schedule chosen = Schedule::kSequential; ///< what `rearrange`, `ideal` or tuning resolved to, else as requested
  Partition partition = Partition::kNone;  ///< of the backward pass
  std::uint32_t parts = 1;
  Layout layout;
  std::vector<ReductionPlans> reductions; ///< of each layer: what golden results have to replay
  std::vector<std::string> tilings;       ///< of each layer, for people: tile sizes and loop orders
  std::vector<LayerTraffic> traffic;      ///< of each layer
  std::uint64_t dram_bytes = 0;           ///< device memory needed from the base address, spill space included
  std::vector<isa::Command> stream;       ///< DRAM addresses relative to base address 0
  std::vector<CommandInfo> info;
  std::uint64_t useful_macs = 0;
  std::uint64_t compute_cycles = 0;   ///< block formula: sum over blocks of max(K, shortest block)
  std::uint64_t predicted_cycles = 0; ///< by the timing model: those of the RTL, if the bus does not push back
  Bounds bounds;
  Tuning tuning;
  AccessCounts accesses; ///< of the stream, also where it is not kept
};

} // namespace gradweave::compiler
