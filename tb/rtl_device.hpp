// The device API on the Verilated NPU in its SystemC testbench.
#pragma once

#include "runtime/device.hpp"
#include "sw_models/memory.hpp"
#include "tb/axi_lite_master.hpp"
#include "tb/axi_memory.hpp"
#include "tb/clock_reset.hpp"
#include "tb/npu_model.hpp"
#include "tb/npu_module.hpp"
#include "tb/tlm_memory.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradweave::tb {

/// One a process: SystemC's kernel cannot be restarted. Work that is independent is forked before the device is made.
/// wait() may be left by an exception of its progress callback; the device is then only good for destruction.
class RtlDevice final : public Device {
public:
  /// Elaborates, resets, compares the RTL's parameters with `config` and programs the registers.
  /// Throws std::runtime_error if the RTL was built with other parameters, or if the process made a device before.
  RtlDevice(const NpuConfig &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model);

  const NpuConfig &config() const override { return config_; }
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override;
  void copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override;
  void copy_out(std::uint64_t addr, void *data, std::size_t bytes) override;
  void submit(const std::vector<isa::Command> &stream) override;
  /// Besides the errors of the NPU, which are a RunStatus, throws AxiViolation if the NPU breaks the bus protocol and
  /// std::runtime_error if an assertion of the RTL fails or the NPU neither ends nor makes progress.
  RunStatus wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress = {}) override;
  /// Throws std::runtime_error if the counters of a group do not add up to CYCLES.
  Counters read_counters() override;
  /// Soft reset; the reset pin instead, for NPU and bus, if the NPU is busy or the bus has unanswered bursts.
  void reset() override;

  std::uint32_t read_csr(isa::Csr csr) { return csr_.read(static_cast<std::uint16_t>(csr)); }
  void write_csr(isa::Csr csr, std::uint32_t value) { csr_.write(static_cast<std::uint16_t>(csr), value); }
  /// Starts the NPU on what the registers hold, once the memory has turned around: what an earlier run left there does
  /// not matter to this one. submit() is this after writing stream and registers.
  void start(std::size_t commands);
  const std::vector<timing::CommandTimes> &command_times() const override { return npu_.log(); }
  /// First cycle of the last run: where the time of command_times() begins in that of cycle().
  std::uint64_t run_cycle() const { return npu_.run_cycle(); }
  /// Cycles since power-up: the time base of trace windows and of messages.
  std::uint64_t cycle() const { return clock_.cycle(); }

private:
  void check_parameters();
  void program();
  void write_csr64(isa::Csr low, std::uint64_t value);

  NpuConfig config_;
  DeviceOptions options_;
  std::unique_ptr<NpuModel> model_;
  DeviceMemory memory_;

  ClockReset clock_;
  Registered<AxiLiteMasterPins> csr_request_{"csr_request"};
  Registered<AxiLiteSlavePins> csr_answer_{"csr_answer"};
  Registered<AxiMasterPins> bus_request_{"bus_request"};
  Registered<AxiSlavePins> bus_answer_{"bus_answer"};
  NpuModule npu_;
  AxiLiteMaster csr_;
  AxiMemory bus_;
  TlmMemory tlm_memory_;

  std::uint64_t allocated_ = 0;                         ///< memory below is in use
  std::uint64_t stream_addr_ = 0, stream_capacity_ = 0; ///< commands are copied here; bytes
};

} // namespace gradweave::tb
