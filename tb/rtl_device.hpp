// The device API on the Verilated NPU in its SystemC testbench.
#pragma once

#include "device/device.hpp"
#include "device/rtl_library.hpp"
#include "tb/npu_parameters.hpp"
#include "tb/simulation.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradweave::tb {

/// Besides what the contract says, wait() throws AxiViolation if the NPU breaks the bus protocol and std::runtime_error
/// if an assertion of the RTL fails or the NPU neither ends nor makes progress; read_counters() throws
/// std::runtime_error if the counters of a group do not add up to CYCLES. reset() is the soft reset; the reset pin
/// instead, for NPU and bus, if the NPU is busy or the bus has unanswered bursts.
class RtlDevice final : public Device {
public:
  /// Puts the NPU into `simulation`, which is not elaborated yet. To be used after power_up().
  RtlDevice(std::shared_ptr<Simulation> simulation, const Machine &config, const DeviceOptions &options,
            std::unique_ptr<NpuModel> model);
  /// In a simulation of its own, and powered up.
  RtlDevice(const Machine &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model);
  ~RtlDevice() override;

  /// In an elaborated simulation: resets, compares the RTL's parameters with the configuration and programs the
  /// registers. Throws std::runtime_error if the RTL was built with other parameters.
  void power_up();
  /// The same, but compares these values.
  void power_up(const std::vector<BuiltValue> &expected);

  std::uint32_t read_csr(isa::Csr csr) { return board_.csr.read(static_cast<std::uint16_t>(csr)); }
  /// False: refused with an error response.
  bool try_write_csr(isa::Csr csr, std::uint32_t value) {
    return board_.csr.try_write(static_cast<std::uint16_t>(csr), value) == AxiResp::kOkay;
  }
  /// Cycle of the run in which the NPU took the last write.
  std::uint64_t written() const { return board_.npu.written(); }
  void write_csr(isa::Csr csr, std::uint32_t value) { board_.csr.write(static_cast<std::uint16_t>(csr), value); }
  /// Starts the NPU on what the registers hold (RunControl). submit() does this after writing stream and registers.
  void start(std::size_t commands);
  const std::vector<timing::CommandTimes> &command_times() const override { return board_.npu.log(); }
  /// First cycle of the last run: where the time of command_times() begins in that of cycle().
  std::uint64_t run_cycle() const { return board_.npu.run_cycle(); }
  std::uint64_t now() const override { return in_ring_ ? board_.npu.now() : 0; }
  /// Cycles since power-up: the time base of trace windows and of messages.
  std::uint64_t cycle() const { return board_.clock.cycle(); }

  Board &board() { return board_; }

protected:
  void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override;
  void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) override;
  void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) override;
  void do_open(std::uint64_t addr, std::uint32_t places) override;
  std::uint64_t do_append(const std::vector<isa::Command> &commands, std::uint32_t all) override;
  std::uint64_t do_close() override;
  bool do_advance(std::uint64_t cycle) override;
  std::optional<timing::Mark> do_take_mark() override;
  RunStatus do_wait(const ProgressFunction &progress) override;
  Counters do_read_counters() override;
  void do_reset() override;

private:
  void launch(const std::vector<RegisterAccess> &registers, std::size_t commands);
  void run_to_end(const ProgressFunction &progress);
  /// `slice` again and again, up to the run's end.
  template <class Slice> void run_slices(const ProgressFunction &progress, const Slice &slice);
  void run_to_cycle(std::uint64_t cycle);
  std::uint64_t write_in(std::uint64_t cycles, isa::Csr csr, std::uint32_t value);
  void set_ring(std::uint32_t places);
  void log_marks(const std::vector<isa::Command> &commands, std::uint32_t first);
  bool mark_waits() const;
  void check_parameters(const std::vector<BuiltValue> &values);
  void program();
  void write_csr64(isa::Csr low, std::uint64_t value);

  std::uint32_t watchdog_;
  std::uint32_t ring_size_ = 0;      ///< as the register has it
  bool in_ring_ = false;             ///< the last run was one with a ring
  std::vector<std::uint32_t> marks_; ///< commands of the run that are MARKs
  std::size_t taken_ = 0;            ///< of these
  std::shared_ptr<Simulation> simulation_;
  Board &board_;
};

/// make_rtl_devices() of device/device.hpp.
std::vector<std::unique_ptr<Device>> make_rtl_devices(const std::vector<RtlNpu> &npus);

} // namespace gradweave::tb
