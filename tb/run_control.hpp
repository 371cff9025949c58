// How a host runs a stream on an NPU: register accesses one after another, the interrupt between them.
#pragma once

#include "device/device.hpp"
#include "tb/bus/axi/axi_lite_master.hpp"
#include "tb/bus/axi/axi_memory.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/npu_module.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gradweave::tb {

/// Lives from callback to callback, so that a stream on one board can begin and end while those on others go on. The
/// accesses and their cycles are what launch_cycles() and finish_cycles() of the whole system's timing model count.
class RunControl {
public:
  /// Called in the cycle in which the host knows how a stream ended.
  using Done = std::function<void(const RunStatus &)>;

  /// `pause`: cycles after which the memory has forgotten what an earlier run did.
  RunControl(const ClockReset &clock, NpuModule &npu, AxiLiteMaster &csr, const AxiMemory &bus, std::uint64_t pause)
      : clock_(clock), npu_(npu), csr_(csr), bus_(bus), pause_(pause) {}

  /// Of a stream's place.
  static std::vector<RegisterAccess> stream_registers(std::uint64_t addr, std::uint32_t commands);

  /// What ends a run: the NPU's interrupt, or, where that tells of MARKs as well, the host that calls conclude().
  enum class Ending : std::uint8_t { kInterrupt, kHost };

  /// From the next edge on: writes `registers`, waits until the memory has turned around and starts the NPU; after the
  /// run's end, reads how it ended and clears the interrupt. No stream is running.
  void start(const std::vector<RegisterAccess> &registers, std::size_t commands, Ending ending, Done done);
  /// The run has ended, and no register access is under way.
  void conclude() { finish(); }
  /// It is running, and waits for conclude().
  bool ends_by_host() const { return state_ == State::kRun && ending_ == Ending::kHost; }
  /// From start() to the NPU's; to the call of `done`.
  bool launching() const { return state_ == State::kLaunch; }
  bool running() const { return state_ != State::kIdle; }
  /// Of the last stream.
  const RunStatus &status() const { return status_; }

  /// To be called every few thousand cycles: throws std::runtime_error if since long there was no handshake on the bus,
  /// and no command ended, and the NPU's watchdog, of so many cycles, has not acted.
  void check_alive(std::uint64_t watchdog);
  /// Whether register accesses are under way, the NPU having stopped.
  bool finishing() const { return state_ == State::kFinish; }
  /// Forgets what is running, for a reset of the NPU; not while launching or finishing.
  void abandon();

private:
  enum class State { kIdle, kLaunch, kRun, kFinish };

  void next();
  void finish();
  void know(std::uint32_t code);
  void end();

  const ClockReset &clock_;
  NpuModule &npu_;
  AxiLiteMaster &csr_;
  const AxiMemory &bus_;
  std::uint64_t pause_;
  State state_ = State::kIdle;
  Ending ending_ = Ending::kInterrupt;
  std::vector<RegisterAccess> launch_;
  std::size_t at_ = 0;
  Done done_;
  RunStatus status_;
  std::uint64_t last_activity_ = 0, last_active_cycle_ = 0;
};

} // namespace gradweave::tb
