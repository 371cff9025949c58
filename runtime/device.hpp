// Device API: one NPU with its memory, whatever executes it (RTL cosimulation, functional model, ...).
#pragma once

#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "sw_models/npu_config.hpp"
#include "sw_models/timing/command_times.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gradweave {

/// How a run ended, as the STATUS, ERR_CODE and ERR_INDEX registers show it.
struct RunStatus {
  isa::ErrorCode error = isa::ErrorCode::NONE;
  std::uint32_t error_index = 0; ///< of the command in the stream
  bool ok() const { return error == isa::ErrorCode::NONE; }
};

/// Values of the hardware counters, in the list of isa/counters.hpp. Backends without a notion of time leave the cycle
/// counters zero.
struct Counters {
  explicit Counters(std::uint32_t cores = 1) : values(isa::counter_count(cores), 0) {}

  std::vector<std::uint64_t> values;
  /// Of core 0, where the counter is per core.
  std::uint64_t operator[](isa::Counter c) const { return values[static_cast<std::size_t>(c)]; }
  /// Of a per-core counter and any core that the NPU has.
  std::uint64_t of_core(isa::Counter c, std::uint32_t core) const { return values[isa::counter_index(c, core)]; }
};

/// Seeded behaviour of the bus, for tests. All off by default.
struct BusStress {
  std::uint64_t seed = 0;
  double stall_probability = 0; ///< per channel and cycle that a ready or valid is held back, [0, 1)
};

/// The memory answers an access to [addr, addr + bytes) with an error.
struct BusFault {
  enum class Kind { kSlvErr, kDecErr, kHang };
  Kind kind = Kind::kSlvErr;
  bool write = false;
  std::uint64_t addr = 0;
  std::uint64_t bytes = 0;
};

/// Waveform of a window of cycles; written as FST.
struct TraceOptions {
  std::string file; ///< empty: no trace
  std::uint64_t first_cycle = 0;
  std::uint64_t last_cycle = ~std::uint64_t{0};
};

struct DeviceOptions {
  BusStress stress;
  std::vector<BusFault> faults;
  TraceOptions trace;
  std::uint32_t watchdog_cycles = 65536;
  std::uint32_t stream_offset = 0; ///< of the command stream in a 4 KB page; a multiple of a command's bytes
};

class Device {
public:
  virtual ~Device() = default;

  virtual const NpuConfig &config() const = 0;

  /// Reserves `bytes` of device memory at a multiple of `alignment` (a power of two).
  /// Throws std::runtime_error, with both sizes, when the memory is full.
  virtual std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 4096) = 0;
  /// Copies between host and device memory; throws std::out_of_range outside the memory.
  virtual void copy_in(std::uint64_t addr, const void *data, std::size_t bytes) = 0;
  virtual void copy_out(std::uint64_t addr, void *data, std::size_t bytes) = 0;

  /// Copies a command stream into device memory and starts it.
  virtual void submit(const std::vector<isa::Command> &stream) = 0;
  /// Runs until the stream is done or stopped by an error. `progress` (may be empty) is called now and then with
  /// (commands retired, commands in the stream).
  virtual RunStatus wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress = {}) = 0;
  virtual Counters read_counters() = 0;
  /// When each command of the last stream was issued, started and completed; empty if the backend has no time.
  virtual const std::vector<timing::CommandTimes> &command_times() const = 0;
  /// Soft reset after an error: the device accepts a new stream.
  virtual void reset() = 0;
};

std::unique_ptr<Device> make_functional_device(const NpuConfig &config, const DeviceOptions &options = {});

/// The timing model: times and counters of the RTL to the cycle, no data: copy_in() and copy_out() only check their
/// range. Throws std::invalid_argument if `options` ask for back-pressure, faults or a waveform, which it does not
/// have.
std::unique_ptr<Device> make_timing_device(const NpuConfig &config, const DeviceOptions &options = {});

/// The library with the Verilated NPU of this configuration: in $GRADWEAVE_LIB_DIR, else in lib/ of the program's build
/// directory or install prefix. Throws std::runtime_error if it is missing; the remedy names `source`, what `make cosim
/// NPU=` takes for this NPU (empty: its name).
std::filesystem::path find_rtl_library(const NpuConfig &config, const std::string &source = {});

/// Loads the Verilated NPU of this configuration (built by CMake as gradweave_rtl_<name>) and wraps it in the SystemC
/// testbench. A process can make only one (SystemC has one kernel). Throws std::runtime_error with the remedy
/// if the library is missing or was built for other parameters.
std::unique_ptr<Device> make_rtl_device(const NpuConfig &config, const DeviceOptions &options = {});

} // namespace gradweave
