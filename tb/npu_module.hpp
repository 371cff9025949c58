// The NPU in the testbench: steps the model once a cycle, keeps the command log and the trace window.
#pragma once

#include "runtime/device.hpp"
#include "tb/clock_reset.hpp"
#include "tb/npu_model.hpp"
#include "tb/registered.hpp"

#include <cstdint>
#include <systemc>
#include <vector>

namespace gradweave::tb {

/// Cycles, in the testbench's count, in which a command's engine started and completed it; 0: not yet.
struct CommandTimes {
  std::uint64_t start = 0, done = 0;
};

class NpuModule : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(NpuModule);

  NpuModule(const sc_core::sc_module_name &name, ClockReset &clock, NpuModel &model,
            const Registered<AxiLiteMasterPins> &csr_in, Registered<AxiLiteSlavePins> &csr_out,
            const Registered<AxiSlavePins> &memory_in, Registered<AxiMasterPins> &memory_out,
            const TraceOptions &trace);
  ~NpuModule() override;

  bool irq() const { return irq_; }
  /// Ends ClockReset::run() in the cycle in which the interrupt rises.
  void stop_on_irq(bool stop) { stop_on_irq_ = stop; }

  /// Forgets the log and makes room for `commands` indices.
  void clear_log(std::size_t commands);
  const std::vector<CommandTimes> &log() const { return log_; }
  /// Commands completed since clear_log().
  std::uint64_t retired() const { return retired_; }

private:
  void on_posedge();
  void record();
  void move_trace_window();

  ClockReset &clock_;
  NpuModel &model_;
  const Registered<AxiLiteMasterPins> &csr_in_;
  Registered<AxiLiteSlavePins> &csr_out_;
  const Registered<AxiSlavePins> &memory_in_;
  Registered<AxiMasterPins> &memory_out_;
  TraceOptions trace_;
  bool tracing_ = false, trace_pending_;
  bool stop_on_irq_ = false, irq_ = false;
  NpuEvents events_;
  std::vector<CommandTimes> log_;
  std::uint64_t retired_ = 0;
};

} // namespace gradweave::tb
