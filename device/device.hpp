// Device API: one NPU with its memory, whatever executes it (RTL cosimulation, functional model, ...).
#pragma once

#include "device/address_space.hpp"
#include "device/device_error.hpp"
#include "isa/command.hpp"
#include "isa/counters.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/timing/engines/command_times.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave {

/// How a run ended, as the STATUS, ERR_CODE, ERR_INDEX and ERR_WORD registers show it.
struct RunStatus {
  isa::ErrorCode error = isa::ErrorCode::NONE;
  std::uint32_t error_index = 0; ///< of the command in the stream
  std::uint32_t error_word = 0;  ///< of a VECTOR_FAULT: the contents of ERR_WORD; else 0
  bool ok() const { return error == isa::ErrorCode::NONE; }
};

/// Values of the hardware counters, in the list of isa/counters.hpp. Backends without a notion of time leave the cycle
/// counters zero.
struct Counters {
  explicit Counters(std::uint32_t cores = 1, std::uint32_t vectors = 0)
      : cores(cores), values(isa::counter_count(cores, vectors), 0) {}

  std::uint32_t cores; ///< that those in the list are of
  std::vector<std::uint64_t> values;
  /// Of core 0, where the counter is per core.
  std::uint64_t operator[](isa::Counter c) const { return of_core(c, 0); }
  /// Of a per-core counter, or of the vector unit of a core. Throws DeviceError for a core or unit that the NPU does
  /// not have, and for a core but 0 of a counter that is not per core.
  std::uint64_t of_core(isa::Counter c, std::uint32_t core) const;
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
  std::uint64_t bytes = 0; ///< at least 1
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
  /// Without progress until the WATCHDOG error; 0: never; empty: timing::usual_watchdog().
  std::optional<std::uint32_t> watchdog_cycles;
  /// Of the command stream in a 4 KB page; a multiple of a command's bytes, below 4096.
  std::uint32_t stream_offset = 0;
};

/// (commands retired, commands in the stream), now and then.
using ProgressFunction = std::function<void(std::uint64_t, std::uint64_t)>;

/// Cycles that the host's accesses take, whatever the backend: from the time of a device to the cycle in which the NPU
/// takes them, and from there to its new time.
struct HostLatency {
  static constexpr std::uint64_t kOpen = 8;   ///< cycle of the run in which open() leaves the device
  static constexpr std::uint64_t kWrite = 8;  ///< append(), close(): a register is written
  static constexpr std::uint64_t kTake = 32;  ///< take_mark(): the mark is read, then taken
  static constexpr std::uint64_t kAnswer = 4; ///< the NPU answered
};

/// One contract for all backends, checked here: a call that it does not allow throws DeviceError, whatever the backend.
///
/// A device is ready at first. submit() makes it busy until wait() returns; if the stream stopped with an error, only
/// reset() makes it ready again. reset() may be called at any time between other calls, and abandons what was
/// submitted. An exception out of wait() (of its progress function, or one that the backend documents) leaves a device
/// whose memory can be read, and that is good for nothing else.
class Device {
public:
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const Machine &config() const { return config_; }

  /// Reserves `bytes` (at least 1) of device memory at a multiple of `alignment` (a power of two). Addresses rise, from
  /// 0; nothing is given back. Throws DeviceError, with both sizes, when the memory is full.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment = 4096);
  /// Copies between host and device memory, not while the device is busy. Throws DeviceError if the range leaves the
  /// memory.
  void copy_in(std::uint64_t addr, const void *data, std::size_t bytes);
  void copy_out(std::uint64_t addr, void *data, std::size_t bytes);

  /// Copies a command stream into device memory (allocated there, and used again by the next stream that is not longer)
  /// and starts it. An empty stream ends in BAD_START.
  void submit(const std::vector<isa::Command> &stream);
  /// Runs until the stream is done or stopped by an error. `progress` (may be empty) is called now and then with
  /// (commands retired, commands in the stream).
  RunStatus wait(const ProgressFunction &progress = {});

  // A run whose commands come while it goes on: open(), then append(), advance() and take_mark() as often as it takes,
  // then close() and wait(). The device is busy in between. Time stands still but for these calls: of two devices with
  // time, both take the same commands in the same cycles if they are called alike (random back-pressure apart).

  /// Starts a run on a ring of `places` commands (a multiple of 32), in which there is none. The ring is allocated; one
  /// that is not larger than an earlier one takes its place.
  void open(std::uint32_t places);
  /// Commands that may be appended: places whose commands were not before a mark that take_mark() gave are taken.
  std::uint32_t room() const;
  /// Puts the commands into the ring; they follow those that are there. Throws DeviceError if they are more than
  /// room(). Returns the cycle of the run in which the NPU takes the new tail.
  std::uint64_t append(const std::vector<isa::Command> &commands);
  /// No more commands follow. wait() is all that may come then but advance() and take_mark(). Returns as append().
  std::uint64_t close();
  /// Time goes on to cycle `cycle` of the run; less far if it ends, or if a MARK completes, or did and was not taken.
  /// False if the run has ended and no mark is left to take. Backends without time execute all that there is.
  bool advance(std::uint64_t cycle);
  /// The oldest MARK that completed and was not taken; empty if there is none. At most 16 wait to be taken: a further
  /// one does not start.
  std::optional<timing::Mark> take_mark();
  /// Cycle of the run up to which time went on; 0 if the backend has no time.
  virtual std::uint64_t now() const = 0;

  /// Of the last run; all zero before the first one and after reset(). Not while the device is busy.
  Counters read_counters();
  /// When each command of the last stream was issued, started and completed; empty if the backend has no time, and
  /// before the first stream.
  virtual const std::vector<timing::CommandTimes> &command_times() const = 0;
  /// Soft reset: the device accepts a new stream. Memory keeps its contents.
  void reset();

protected:
  /// Throws DeviceError, naming the field, if one of `options` is out of range.
  Device(const Machine &config, const DeviceOptions &options);

  /// Ready to busy, for backends that can start what is in memory already. Throws DeviceError if the device is not
  /// ready; `call` is its name in the message.
  void begin(const char *call);

  // What the backends do; arguments are checked.
  virtual void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) = 0;
  virtual void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) = 0;
  /// Starts the stream, which has been copied to `addr`.
  virtual void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) = 0;
  /// Starts an empty ring at `addr`.
  virtual void do_open(std::uint64_t addr, std::uint32_t places) = 0;
  /// `all`: commands since the start; the new ones, which are the last, are in the ring.
  virtual std::uint64_t do_append(const std::vector<isa::Command> &commands, std::uint32_t all) = 0;
  virtual std::uint64_t do_close() = 0;
  virtual bool do_advance(std::uint64_t cycle) = 0;
  virtual std::optional<timing::Mark> do_take_mark() = 0;
  virtual RunStatus do_wait(const ProgressFunction &progress) = 0;
  virtual Counters do_read_counters() = 0;
  virtual void do_reset() = 0;

private:
  enum class State { kReady, kBusy, kStopped, kBroken };
  enum class RingState { kNone, kOpen, kClosed };

  void refuse_busy(const char *call) const;
  void refuse_broken(const char *call) const;
  void need_ring(const char *call, bool open) const;

  Machine config_;
  std::uint32_t stream_offset_;
  runtime::AddressSpace addresses_;
  std::uint64_t stream_addr_ = 0, stream_bytes_ = 0; ///< room for streams
  State state_ = State::kReady;

  // The ring
  RingState ring_ = RingState::kNone;
  std::uint64_t ring_addr_ = 0;
  std::uint32_t ring_room_ = 0;                              ///< places that were allocated
  std::uint32_t places_ = 0, appended_ = 0, known_free_ = 0; ///< the latter: commands up to the last mark taken
  std::deque<std::uint32_t> marks_;                          ///< commands up to each MARK that was not taken
};

/// The functional model: data and no time. Throws DeviceError if `options` ask for faults or a waveform, which it does
/// not have; back-pressure and watchdog make no difference to it.
std::unique_ptr<Device> make_functional_device(const Machine &config, const DeviceOptions &options = {});

/// The timing model: times and counters of the RTL to the cycle, no data: copy_in() and copy_out() only check their
/// range. Throws DeviceError if `options` ask for back-pressure, faults or a waveform, which it does not have.
std::unique_ptr<Device> make_timing_device(const Machine &config, const DeviceOptions &options = {});

/// The file name of the library with the Verilated NPU of this name.
std::string rtl_library_name(const NpuConfig &config);

/// The library with the Verilated NPU of this configuration: in $GRADWEAVE_LIB_DIR, else in lib/ of the program's build
/// directory or install prefix. Throws std::runtime_error if it is missing; the remedy names `source`, what `make cosim
/// NPU=` takes for this NPU (empty: its name).
std::filesystem::path find_rtl_library(const NpuConfig &config, const std::string &source = {});

/// Loads the Verilated NPU of this configuration (built by CMake as gradweave_rtl_<name>) and puts it into a SystemC
/// testbench, in a simulation of its own: a process may have any number of them, which know nothing of each other. Each
/// is used by one thread at a time. Streams that submit() starts run side by side in threads; for accesses of registers
/// before and behind them, and for runs with a ring or MARKs, threads take turns at SystemC's kernel. Throws
/// std::runtime_error with the remedy if the library is missing or was built for other parameters.
std::unique_ptr<Device> make_rtl_device(const Machine &config, const DeviceOptions &options = {});

/// An NPU and how it is to behave.
struct DeviceSpec {
  Machine config;
  DeviceOptions options;
};
/// The same for NPUs that share one simulation and its time: while one runs, so do all. Their order is that of `npus`.
/// What a device computes and the cycles it takes are those of a device alone, except that random back-pressure goes on
/// while others run. The devices are used by one thread at a time.
std::vector<std::unique_ptr<Device>> make_rtl_devices(const std::vector<DeviceSpec> &npus);

} // namespace gradweave
