// What compilation gives: a checked command stream, and all that is known about it.
#pragma once

#include "compiler/ir/options.hpp"
#include "compiler/ir/reductions.hpp"
#include "graph/network.hpp"
#include "isa/command.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A tensor in device memory, row-major. Layers that are compiled together may share one: Y of a layer is X of the
/// next, dX of that one dY of the layer. Then `layer` and `tensor` are those of the layer that computes it.
struct TensorBinding {
  Tensor tensor = Tensor::kX;
  bool input = false; ///< to be filled before the run
  bool result = true; ///< complete in memory after the run; neither this nor input: an intermediate that may be missing
  bool fp32 = false;  ///< dW is fp32, all others bf16
  std::uint32_t layer = 0; ///< index among the layers compiled together
  std::uint32_t rows = 0, cols = 0;
  std::uint32_t pitch = 0;  ///< bytes from row to row
  std::uint64_t offset = 0; ///< bytes from the layer's base address
};

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

/// What a command is for; one entry per command of the stream.
struct CommandInfo {
  Tensor tensor = Tensor::kX;     ///< tensor moved, or the result of a GEMM
  std::uint32_t row = 0, col = 0; ///< first element of the tile in that tensor
  std::uint32_t rows = 0, cols = 0;
  bool spill = false;      ///< moves partial sums
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
};

struct CompiledLayer {
  Layer layer;
  Schedule requested = Schedule::kSequential;
  Schedule chosen = Schedule::kSequential; ///< what `rearrange`, `ideal` or tuning resolved to, else as requested
  Pass pass = Pass::kBackward;
  Partition partition = Partition::kNone; ///< of the backward pass
  std::uint32_t parts = 1;
  ReductionPlans reductions; ///< what golden results have to replay
  std::string tiling;        ///< for people: tile sizes and loop orders
  std::vector<TensorBinding> tensors;
  std::uint64_t dram_bytes = 0;     ///< device memory needed from the base address, spill space included
  std::vector<isa::Command> stream; ///< DRAM addresses relative to base address 0
  std::vector<CommandInfo> info;
  std::array<Traffic, kTensorCount> traffic{};
  std::uint64_t useful_macs = 0;
  std::uint64_t compute_cycles = 0;   ///< block formula: sum over blocks of max(K, shortest block)
  std::uint64_t predicted_cycles = 0; ///< by the timing model: those of the RTL, if the bus does not push back
  Bounds bounds;
  Tuning tuning;
};

} // namespace gradweave::compiler
