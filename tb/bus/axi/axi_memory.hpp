// AXI4 slave ports in front of a TLM-2.0 memory with DRAM timing.
#pragma once

#include "device/device.hpp"
#include "sw_models/memory/dram_timing.hpp"
#include "tb/bus/axi/axi_port.hpp"
#include "tb/bus/axi/axi_types.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/registered.hpp"

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <vector>

namespace gradweave::tb {

/// A memory bus as one port or several with interleaved addresses, in front of one memory whose channels go in step
/// ("ganged"): a burst is served once it is there on all ports, for all ports at once. Whoever masters the ports has to
/// send the same bursts to all of them.
///
/// Cycle by cycle: the addresses and data taken in a cycle are given to DramTiming, which says from which cycle on a
/// read beat or a write response may be driven. Any number of bursts is accepted; read data comes in order of
/// the addresses, one beat a cycle at most, as do write responses. Bytes are read from the memory when their beat is
/// first driven and written when theirs is taken.
class AxiMemory : public sc_core::sc_module, private BeatStore {
public:
  SC_HAS_PROCESS(AxiMemory);

  tlm_utils::simple_initiator_socket<AxiMemory> socket{"socket"};

  /// `bus_bytes`: of a beat of all ports together. `options`: stress and faults are used. Stress withholds ARREADY,
  /// AWREADY and WREADY, and delays R and B, on each port by itself.
  AxiMemory(const sc_core::sc_module_name &name, ClockReset &clock, const Registered<AxiMasterPorts> &master,
            Registered<AxiSlavePorts> &slave, const MemoryConfig &dram, unsigned bus_bytes, unsigned port_bytes,
            const DeviceOptions &options);

  /// A rising edge of the clock: the kernel's process, or Board::edge().
  void on_posedge();
  /// Nothing outstanding: every burst that was accepted is answered.
  bool idle() const;
  /// Handshakes on any channel so far: progress.
  std::uint64_t handshakes() const;

private:
  void clear();
  void arrive(std::uint64_t cycle);
  void schedule(std::uint64_t cycle);
  void check_alike(std::uint64_t cycle, DramTiming::Direction direction) const;

  AxiResp read(std::uint64_t addr, unsigned bytes, std::uint8_t *data) override;
  AxiResp write(std::uint64_t addr, unsigned bytes, const std::uint8_t *data, const std::uint8_t *strb) override;
  std::uint8_t *direct(tlm::tlm_command command, std::uint64_t addr, unsigned bytes);
  AxiResp transport(tlm::tlm_command command, std::uint64_t addr, unsigned bytes, std::uint8_t *data,
                    std::uint8_t *enables);

  ClockReset &clock_;
  const Registered<AxiMasterPorts> &master_;
  Registered<AxiSlavePorts> &slave_;
  MemoryConfig dram_;
  unsigned bus_bytes_;
  DramTiming timing_;
  std::vector<AxiPort> ports_;
  std::array<tlm::tlm_dmi, 2> dmi_; ///< last direct range: reads, writes
};

} // namespace gradweave::tb
