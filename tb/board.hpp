// An NPU on its board: clock, memory, buses and the host's access to the registers.
#pragma once

#include "device/device.hpp"
#include "sw_models/memory/memory.hpp"
#include "tb/bus/axi/axi_lite_master.hpp"
#include "tb/bus/axi/axi_memory.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/tlm_memory.hpp"
#include "tb/npu_model.hpp"
#include "tb/npu_module.hpp"
#include "tb/run_control.hpp"

#include <cstdint>
#include <memory>

namespace gradweave::tb {

/// Everything of one device that is in the simulation; boards of a simulation share nothing but its time.
class Board : public sc_core::sc_module {
public:
  Board(const sc_core::sc_module_name &name, const Machine &config, const DeviceOptions &options,
        std::unique_ptr<NpuModel> npu_model);

  /// Closes the waveform and stops the clock for good.
  void power_off();

  /// While the clock is gated and no access of a register is under way: the board's processes are called by edge(), in
  /// whatever thread, instead of by the kernel. Nothing else may use the board meanwhile.
  void set_apart(bool apart);
  /// A rising edge of the clock.
  void edge();
  /// Edges up to the end of the stream that runs, at most so many. Rethrows what a process failed with.
  void edges(std::uint64_t most);

private:
  std::unique_ptr<NpuModel> model_; // what modules refer to comes before them

public:
  DeviceMemory memory;
  ClockReset clock;

private:
  Registered<AxiLiteMasterPins> csr_request_{"csr_request"};
  Registered<AxiLiteSlavePins> csr_answer_{"csr_answer"};
  Registered<AxiMasterPorts> bus_request_{"bus_request"};
  Registered<AxiSlavePorts> bus_answer_{"bus_answer"};

public:
  NpuModule npu;
  AxiLiteMaster csr;
  AxiMemory bus;
  RunControl control;

private:
  TlmMemory tlm_memory_;
};

} // namespace gradweave::tb
