// The NPU in the testbench: steps the model once a cycle, keeps the command log and the trace window.
#pragma once

#include "device/device.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/registered.hpp"
#include "tb/npu_model.hpp"

#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

namespace gradweave::tb {

class NpuModule : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(NpuModule);

  NpuModule(const sc_core::sc_module_name &name, ClockReset &clock, NpuModel &model,
            const Registered<AxiLiteMasterPins> &csr_in, Registered<AxiLiteSlavePins> &csr_out,
            const Registered<AxiSlavePorts> &memory_in, Registered<AxiMasterPorts> &memory_out,
            const TraceOptions &trace);

  /// A rising edge of the clock: the kernel's process, or Board::edge().
  void on_posedge();
  /// Ends the waveform.
  void close_trace();
  bool irq() const { return irq_; }
  /// Called in the cycle in which the interrupt rises, once.
  void on_irq(std::function<void()> call) { on_irq_ = std::move(call); }

  /// Ends ClockReset::run() in the cycle behind a run's last.
  void stop_at_end(bool stop) { stop_at_end_ = stop; }
  /// The last cycle was one of a run.
  bool running() const { return running_; }
  /// Cycle of the run, on its way, that the last cycle was; or, after its end, would have been.
  std::uint64_t now() const { return clock_.cycle() - run_cycle_; }
  /// In that count: when the NPU took the last write to a register.
  std::uint64_t written() const { return write_cycle_ - run_cycle_; }

  /// Forgets the log and makes room for `commands` indices.
  void clear_log(std::size_t commands);
  /// Makes room for more.
  void extend_log(std::size_t commands) { log_.resize(commands); }
  /// Cycles count from the run's first.
  const std::vector<timing::CommandTimes> &log() const { return log_; }
  /// The run's first cycle in the testbench's count.
  std::uint64_t run_cycle() const { return run_cycle_; }
  /// Commands completed since clear_log().
  std::uint64_t retired() const { return retired_; }

private:
  void record();
  void move_trace_window();

  ClockReset &clock_;
  NpuModel &model_;
  const Registered<AxiLiteMasterPins> &csr_in_;
  Registered<AxiLiteSlavePins> &csr_out_;
  const Registered<AxiSlavePorts> &memory_in_;
  Registered<AxiMasterPorts> &memory_out_;
  TraceOptions trace_;
  bool tracing_ = false, trace_pending_;
  std::function<void()> on_irq_;
  bool stop_at_end_ = false, irq_ = false, answered_ = false;
  NpuEvents events_;
  bool running_ = false;
  std::uint64_t run_cycle_ = 0, write_cycle_ = 0;
  std::vector<timing::CommandTimes> log_;
  std::uint64_t retired_ = 0;
};

} // namespace gradweave::tb
