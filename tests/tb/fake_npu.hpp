// An NPU of registers only: what the device's own checks are tested with, since a right NPU never trips them.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "tb/npu_model.hpp"
#include "tb/npu_parameters.hpp"

#include <cstdint>
#include <map>

namespace gradweave::tb {

/// After start it waits `run_cycles`, then reports every command complete, one a
/// cycle, and raises the interrupt.
class FakeNpu final : public NpuModel {
public:
  struct Faults {
    bool never_done = false;         ///< no event and no interrupt
    bool silent_registers = false;   ///< answers no access
    bool error_response = false;     ///< SLVERR on register reads
    bool rvalid_falls = false;       ///< before RREADY
    bool bad_event = false;          ///< reports a command beyond the stream
    std::int64_t cycles_missing = 0; ///< by which the load group falls short of CYCLES
  };

  FakeNpu(const Machine &c, Faults faults) : faults_(faults) {
    set(isa::Csr::ID, 0x47570000U | isa::kVersion);
    for (const BuiltValue &built : built_values(c))
      set(built.csr, get(built.csr) | built.value << built.lsb);
  }

  void set(isa::Csr csr, std::uint32_t value) { registers_[static_cast<std::uint32_t>(csr)] = value; }
  std::uint32_t get(isa::Csr csr) { return registers_[static_cast<std::uint32_t>(csr)]; }

  void cycle(const NpuInputs &in, NpuOutputs &out) override {
    out.events.started = out.events.done = 0;
    out.events.running = running_;
    if (!in.reset_n) {
      csr_ = {};
      running_ = irq_ = false;
    } else {
      serve_registers(in.csr);
      if (running_ && !faults_.never_done) run(out.events);
    }
    out.csr = csr_;
    for (AxiMasterPins &port : out.memory) {
      port = {};
      port.rready = port.bready = true;
    }
    out.irq = irq_;
  }

  void open_trace(const std::string &, std::uint64_t, std::uint64_t) override {}
  void close_trace() override {}

  std::uint64_t run_cycles = 10;
  unsigned soft_resets = 0;

private:
  void serve_registers(const AxiLiteMasterPins &m) {
    // A response that was taken goes; an access is taken in the cycle after it appears.
    if (m.rready || faults_.rvalid_falls) csr_.rvalid = false;
    if (csr_.bvalid && m.bready) csr_.bvalid = false;
    if (csr_.arready && m.arvalid) {
      csr_.rvalid = true;
      csr_.rdata = registers_[m.araddr];
      csr_.rresp = faults_.error_response ? AxiResp::kSlvErr : AxiResp::kOkay;
    }
    if (csr_.awready && m.awvalid && m.wvalid) {
      csr_.bvalid = true;
      store(m.awaddr, m.wdata);
    }
    csr_.arready = !faults_.silent_registers && !csr_.arready && m.arvalid && !csr_.rvalid;
    csr_.awready = csr_.wready = !faults_.silent_registers && !csr_.awready && m.awvalid && m.wvalid && !csr_.bvalid;
  }

  void store(std::uint32_t offset, std::uint32_t value) {
    if (offset != static_cast<std::uint32_t>(isa::Csr::CTRL)) {
      registers_[offset] = value;
      return;
    }
    if (value & 1U) {
      running_ = true;
      elapsed_ = 0;
    }
    if (value & 2U) ++soft_resets;
    if (value & 4U) irq_ = false;
  }

  void run(NpuEvents &events) {
    if (++elapsed_ < run_cycles) return;
    const std::uint64_t command = elapsed_ - run_cycles;
    if (command < get(isa::Csr::CMD_COUNT)) {
      events.started = events.done = 1;
      events.start_index[0] = events.done_index[0] =
          faults_.bad_event ? get(isa::Csr::CMD_COUNT) : static_cast<std::uint32_t>(command);
      return;
    }
    running_ = false;
    irq_ = true;
    count(isa::Counter::CYCLES, elapsed_);
    for (const isa::Counter c : {isa::Counter::STORE_EMPTY, isa::Counter::FETCH_DONE, isa::Counter::COMPUTE_EMPTY})
      count(c, elapsed_);
    count(isa::Counter::LOAD_EMPTY, elapsed_ - static_cast<std::uint64_t>(faults_.cycles_missing));
  }

  void count(isa::Counter c, std::uint64_t value) {
    const std::uint32_t offset = isa::kCounterBase + 8 * static_cast<std::uint32_t>(c);
    registers_[offset] = static_cast<std::uint32_t>(value);
    registers_[offset + 4] = static_cast<std::uint32_t>(value >> 32U);
  }

  Faults faults_;
  std::map<std::uint32_t, std::uint32_t> registers_;
  AxiLiteSlavePins csr_;
  bool running_ = false, irq_ = false;
  std::uint64_t elapsed_ = 0;
};

} // namespace gradweave::tb
