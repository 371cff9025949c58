// The compiler's interface: a layer's products in, a checked binary command stream out.
#pragma once

#include "compiler/network.hpp"
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

/// Orders of the backward pass (igo_micro23, sections 4.2 and 4.3).
enum class Schedule { kSequential, kInterleave, kDxMajor, kDwMajor, kRearrange, kIdeal };
/// Accepts the names sequential, interleave, dx_major, dw_major, rearrange, ideal; throws std::invalid_argument listing
/// them.
Schedule parse_schedule(std::string_view name);
std::string_view to_string(Schedule s);
const std::vector<Schedule> &all_schedules();

enum class Pass { kForward, kBackward, kBoth };
Pass parse_pass(std::string_view name);
std::string_view to_string(Pass p);

enum class Tensor { kX, kW, kDY, kY, kDX, kDW };
inline constexpr std::size_t kTensorCount = 6;
std::string_view to_string(Tensor t); ///< "X", "W", "dY", "Y", "dX", "dW"

/// A tensor of the layer in device memory, row-major.
struct TensorBinding {
  Tensor tensor = Tensor::kX;
  bool input = false; ///< to be filled before the run; false: a result
  bool fp32 = false;  ///< dW is fp32, all others bf16
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
  std::uint32_t red = 0;   ///< GEMM: first index of the reduction
  std::uint32_t red_n = 0; ///< GEMM: length of the reduction; 0 for LOAD, STORE, SYNC
};

/// Cycles that no schedule, tiling or timing can beat.
struct Bounds {
  std::uint64_t compute_cycles = 0; ///< the layer's multiply-adds, one a cycle on each PE
  std::uint64_t traffic_cycles = 0; ///< each tensor of the pass moved once, its elements only, at the DRAM's bandwidth
  std::uint64_t cycles() const { return compute_cycles > traffic_cycles ? compute_cycles : traffic_cycles; }
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
  std::string tiling; ///< for people: tile sizes and loop orders
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
  /// Called now and then during the search, with plans simulated and plans to simulate. May throw, which abandons it.
  std::function<void(std::uint64_t, std::uint64_t)> progress = nullptr;
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
