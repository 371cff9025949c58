#include "tb/npu_module.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

NpuModule::NpuModule(const sc_core::sc_module_name &name, ClockReset &clock, NpuModel &model,
                     const Registered<AxiLiteMasterPins> &csr_in, Registered<AxiLiteSlavePins> &csr_out,
                     const Registered<AxiSlavePorts> &memory_in, Registered<AxiMasterPorts> &memory_out,
                     const TraceOptions &trace)
    : sc_module(name), clock_(clock), model_(model), csr_in_(csr_in), csr_out_(csr_out), memory_in_(memory_in),
      memory_out_(memory_out), trace_(trace), trace_pending_(!trace.file.empty()) {
  SC_METHOD(on_posedge);
  dont_initialize();
  sensitive << clock_.posedge();
}

void NpuModule::close_trace() {
  if (std::exchange(tracing_, false)) model_.close_trace();
}

void NpuModule::clear_log(std::size_t commands) {
  log_.assign(commands, {});
  retired_ = 0;
}

void NpuModule::on_posedge() {
  clock_.guard([this] {
    if (trace_pending_ || tracing_) move_trace_window();
    const NpuInputs in{clock_.reset_n(), csr_in_.read(), memory_in_.read()};
    NpuOutputs out{csr_out_.next(), memory_out_.next(), events_};
    model_.cycle(in, out);
    const bool answered = csr_out_.next().bvalid;
    if (answered && !answered_) write_cycle_ = clock_.cycle();
    answered_ = answered;
    csr_out_.commit();
    memory_out_.commit();
    if (events_.running && !running_) run_cycle_ = clock_.cycle();
    if (running_ && !events_.running && stop_at_end_) clock_.stop();
    running_ = events_.running;
    if (events_.issued || (events_.started | events_.done) != 0) record();
    const bool rises = out.irq && !irq_;
    irq_ = out.irq;
    if (rises && on_irq_) std::exchange(on_irq_, {})();
  });
}

void NpuModule::record() {
  const std::uint64_t cycle = clock_.cycle() - run_cycle_;
  const auto times = [this](std::uint32_t index) -> timing::CommandTimes & {
    if (index >= log_.size())
      throw std::runtime_error(fmt::format("cycle {}: the NPU reports an event of command {}, but the stream has {}",
                                           clock_.cycle(), index, log_.size()));
    return log_[index];
  };
  if (events_.issued) times(events_.issue_index).issue = cycle;
  for (unsigned e = 0; (events_.started | events_.done) >> e; ++e) {
    if ((events_.started >> e) & 1U) times(events_.start_index[e]).start = cycle;
    if ((events_.done >> e) & 1U) {
      times(events_.done_index[e]).done = cycle;
      ++retired_;
    }
  }
}

void NpuModule::move_trace_window() {
  const std::uint64_t cycle = clock_.cycle();
  if (trace_pending_ && cycle >= trace_.first_cycle) {
    model_.open_trace(trace_.file, cycle, clock_.period_ps());
    trace_pending_ = false;
    tracing_ = true;
  }
  if (cycle > trace_.last_cycle) close_trace();
}

} // namespace gradweave::tb
