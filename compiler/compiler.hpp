// The compiler's interface: a layer's products in, a checked binary command stream out.
#pragma once

#include "graph/network.hpp"
#include "isa/command.hpp"
#include "sw_models/npu_config.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// Orders of the backward pass (igo_micro23, sections 4.2 and 4.3); `search`: whichever of them, and of their
/// partitions, is the fastest.
enum class Schedule { kSequential, kInterleave, kDxMajor, kDwMajor, kRearrange, kIdeal, kSearch };
/// Throws std::invalid_argument listing the names that there are.
Schedule parse_schedule(std::string_view name);
std::string_view to_string(Schedule s);
/// "sequential, interleave, ...": what parse_schedule() accepts; likewise the others below.
std::string schedule_names();
/// Those of the paper: all but `search`.
const std::vector<Schedule> &all_schedules();

/// How a layer's backward pass is cut into parts (igo_micro23, section 5, figure 11), each a smaller layer: along M, N
/// or K. Parts follow one another on one core, or run beside each other on several.
enum class Partition { kNone, kWeightSharing, kDySharing, kIfmapSharing };
/// Throws std::invalid_argument listing the names that there are.
Partition parse_partition(std::string_view name);
std::string_view to_string(Partition p);
std::string partition_names();
const std::vector<Partition> &all_partitions();

/// How cores that share a reduction bring their sums together: a core continues the sum of the core before, which
/// gives the bits of one core; or each sums from zero, and ADD commands add the sums under a reduction plan.
enum class Reduction { kChain, kAdd };
/// Throws std::invalid_argument listing the names that there are.
Reduction parse_reduction(std::string_view name);
std::string_view to_string(Reduction r);
std::string reduction_names();

enum class Pass { kForward, kBackward, kBoth };
Pass parse_pass(std::string_view name);
std::string_view to_string(Pass p);
std::string pass_names();

enum class Tensor { kX, kW, kDY, kY, kDX, kDW };
inline constexpr std::size_t kTensorCount = 6;
std::string_view to_string(Tensor t); ///< "X", "W", "dY", "Y", "dX", "dW"

/// For each result, where its reduction is cut: part 0 is [0, cuts[0]), part 1 [cuts[0], cuts[1]), and so on. Every
/// part is summed from +0, then the parts are added, ascending (docs/numerics.md). No cuts: one sum, the naive order.
struct ReductionPlans {
  std::array<std::vector<std::uint32_t>, kTensorCount> cuts;

  const std::vector<std::uint32_t> &of(Tensor t) const { return cuts[static_cast<std::size_t>(t)]; }
  /// First index of a part.
  std::uint32_t first(Tensor t, std::uint32_t part) const { return part == 0 ? 0 : of(t).at(part - 1); }
  /// One past the last index of a part, in a reduction of `extent`.
  std::uint32_t end(Tensor t, std::uint32_t part, std::uint32_t extent) const {
    return part < of(t).size() ? of(t)[part] : extent;
  }
};

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

struct CompileOptions {
  Schedule schedule = Schedule::kRearrange;
  Pass pass = Pass::kBackward;
  /// Plans to try beyond the usual search; 0: none. The result is never slower than without, nor than `rearrange`: if
  /// the requested schedule stays behind that one, its plan is taken, and `chosen` says so.
  std::uint64_t tune = 0;
  /// Called after every plan that the search tries, with changes tried and changes to try: none of them while the first
  /// plans are looked for. May throw, which abandons the search.
  std::function<void(std::uint64_t, std::uint64_t)> progress = nullptr;
  /// With several cores, `none` uses the first one only; forward products are cut along M or N, whichever is faster,
  /// unless it is `none`.
  Partition partition = Partition::kNone;
  std::uint32_t parts = 0; ///< 0: one a core, or two on one core; 1 if partition is `none`
  Reduction reduction = Reduction::kChain;
  /// Changes of good plans that are simulated for every layer and order, tuning apart. Fewer take less time.
  std::uint64_t plans = 300;
  /// Whether to emit the stream and verify every pass. Without, all else is the same, but `stream` and `info` stay
  /// empty.
  bool stream = true;
};

/// Compiles one layer and verifies the result of every pass. Throws CompileError (what() says which layer, why, and
/// what to change) if no tiling fits the scratchpad or a dimension or the footprint is too large for the device.
CompiledLayer compile_layer(const Layer &layer, const NpuConfig &npu, const CompileOptions &options);

class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A check that the compiler makes of its own work failed: the compiler is at fault, not its input.
class CompilerDefect : public CompileError {
public:
  using CompileError::CompileError;
};

/// The stream with `base` added to every DRAM address.
std::vector<isa::Command> relocate(const std::vector<isa::Command> &stream, std::uint64_t base);

} // namespace gradweave::compiler
