// AXI4 slave in front of a TLM-2.0 memory, with DRAM timing, random back-pressure and error injection.
#pragma once

#include "device/device.hpp"
#include "sw_models/memory/dram_timing.hpp"
#include "tb/bus/axi_checker.hpp"
#include "tb/bus/axi_types.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/registered.hpp"
#include "tb/bus/stall.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <vector>

namespace gradweave::tb {

/// Cycle by cycle: the addresses and data taken in a cycle are given to DramTiming, which says from which cycle on a
/// read beat or a write response may be driven. Any number of bursts is accepted; read data comes in order of
/// the addresses, one beat a cycle at most, as do write responses. Bytes are read from the memory when their beat is
/// first driven and written when theirs is taken.
class AxiMemory : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(AxiMemory);

  tlm_utils::simple_initiator_socket<AxiMemory> socket{"socket"};

  /// `options`: stress and faults are used. Stress withholds ARREADY, AWREADY and WREADY, and delays R and B.
  AxiMemory(const sc_core::sc_module_name &name, ClockReset &clock, const Registered<AxiMasterPins> &master,
            Registered<AxiSlavePins> &slave, const MemoryConfig &dram, unsigned bus_bytes,
            const DeviceOptions &options);

  /// Nothing outstanding: every burst that was accepted is answered.
  bool idle() const { return reads_.empty() && writes_.empty() && early_beats_.empty(); }
  /// Handshakes on any channel so far: progress.
  std::uint64_t handshakes() const { return handshakes_; }

private:
  struct Read {
    AxiAddress address;
    unsigned next_beat;
    DramTiming::Grant grant;
  };
  struct Write {
    AxiAddress address;
    unsigned next_beat;
    AxiResp resp;
    bool hangs;
    std::uint64_t response_cycle;
  };

  void on_posedge();
  void clear();
  void take(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s);
  void write_beat(std::uint64_t cycle, const AxiWriteData &beat);
  void schedule(std::uint64_t cycle);
  void drive(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &now, AxiSlavePins &next);
  void drive_read(std::uint64_t cycle, AxiReadData &r);
  void drive_response(std::uint64_t cycle, AxiWriteResponse &b);

  std::uint64_t beat_address(const AxiAddress &a, unsigned beat) const;
  const BusFault *fault_at(bool write, std::uint64_t addr) const;
  AxiResp access(tlm::tlm_command command, std::uint64_t addr, std::uint8_t *data, const std::uint8_t *strb);
  std::uint8_t *direct(tlm::tlm_command command, std::uint64_t addr);

  ClockReset &clock_;
  const Registered<AxiMasterPins> &master_;
  Registered<AxiSlavePins> &slave_;
  MemoryConfig dram_;
  unsigned bus_bytes_;
  std::vector<BusFault> faults_;
  AxiChecker checker_;
  DramTiming timing_;
  Stall stall_ar_, stall_aw_, stall_w_, stall_r_, stall_b_;

  // Bursts in order of their addresses. The leading entries are further on: data complete, service granted.
  std::deque<Read> reads_;
  std::deque<Write> writes_;
  std::size_t reads_granted_ = 0, writes_complete_ = 0, writes_granted_ = 0;
  std::deque<AxiWriteData> early_beats_; ///< data taken before its address

  std::uint64_t handshakes_ = 0;
  std::array<tlm::tlm_dmi, 2> dmi_; ///< last direct range: reads, writes
};

} // namespace gradweave::tb
