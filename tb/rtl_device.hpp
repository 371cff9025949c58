// The device API on the Verilated NPU in its SystemC testbench.
#pragma once

#include "device/device.hpp"
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

/// Throws DeviceError if SystemC's kernel has run in this process: it cannot be restarted, so a process makes one
/// device. Work that is independent is forked before. To be called before the NPU's model is made, too: two Verilated
/// models would share what the first one leaves behind.
void claim_kernel();

/// Besides what the contract says, wait() throws AxiViolation if the NPU breaks the bus protocol and std::runtime_error
/// if an assertion of the RTL fails or the NPU neither ends nor makes progress; read_counters() throws
/// std::runtime_error if the counters of a group do not add up to CYCLES. reset() is the soft reset; the reset pin
/// instead, for NPU and bus, if the NPU is busy or the bus has unanswered bursts.
class RtlDevice final : public Device {
public:
  /// Elaborates, resets, compares the RTL's parameters with `config` and programs the registers.
  /// Throws std::runtime_error if the RTL was built with other parameters, and as claim_kernel().
  RtlDevice(const NpuConfig &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model);

  std::uint32_t read_csr(isa::Csr csr) { return csr_.read(static_cast<std::uint16_t>(csr)); }
  void write_csr(isa::Csr csr, std::uint32_t value) { csr_.write(static_cast<std::uint16_t>(csr), value); }
  /// Starts the NPU on what the registers hold, once the memory has turned around: what an earlier run left there does
  /// not matter to this one. submit() does this after writing stream and registers.
  void start(std::size_t commands);
  const std::vector<timing::CommandTimes> &command_times() const override { return npu_.log(); }
  /// First cycle of the last run: where the time of command_times() begins in that of cycle().
  std::uint64_t run_cycle() const { return npu_.run_cycle(); }
  /// Cycles since power-up: the time base of trace windows and of messages.
  std::uint64_t cycle() const { return clock_.cycle(); }

protected:
  void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override;
  void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) override;
  void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) override;
  RunStatus do_wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress) override;
  Counters do_read_counters() override;
  void do_reset() override;

private:
  void launch(std::size_t commands);
  void check_parameters();
  void program();
  void write_csr64(isa::Csr low, std::uint64_t value);

  std::uint32_t watchdog_;
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
};

} // namespace gradweave::tb
