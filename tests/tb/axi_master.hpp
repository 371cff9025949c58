// Scripted AXI4 masters for tests of AxiMemory, one a port, and the bench around them.
#pragma once

#include "sw_models/memory/memory.hpp"
#include "tb/bus/axi/axi_memory.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/stall.hpp"
#include "tb/bus/tlm_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

namespace gradweave::tb {

/// Sends queued bursts as fast as the slave takes them and records every answer with its cycle.
class AxiTestMaster {
public:
  struct Sent {
    std::uint64_t cycle; ///< of the address handshake (reads) or of the last data handshake (writes)
  };
  struct ReadBeat {
    std::uint64_t cycle;
    std::uint8_t id;
    AxiResp resp;
    bool last;
    std::vector<std::uint8_t> data;
  };
  struct Response {
    std::uint64_t cycle;
    std::uint8_t id;
    AxiResp resp;
  };

  explicit AxiTestMaster(const PortPlace &port) : bytes_(port.bytes), bus_bytes_(port.bus_bytes()) {}

  void read(std::uint64_t addr, unsigned count, std::uint8_t id = 0) {
    ar_.push_back(address(addr, count, id));
    ++expected_reads;
  }

  /// `data` holds beats x bytes of the port's beat; `strobe` says which bytes of a beat are written. `hold_address`:
  /// the address is offered only once all of the burst's data is taken.
  void write(std::uint64_t addr, const std::vector<std::uint8_t> &data, std::uint8_t id = 0,
             const std::vector<bool> &strobe = {}, bool hold_address = false) {
    const auto count = static_cast<unsigned>(data.size() / bytes_);
    aw_.push_back(address(addr, count, id));
    for (unsigned b = 0; b < count; ++b) {
      AxiWriteData w;
      w.valid = true;
      w.last = b + 1 == count;
      for (unsigned i = 0; i < bytes_; ++i) {
        w.data[i] = data[b * bytes_ + i];
        if (strobe.empty() || strobe[i]) w.strb[i / 8] = static_cast<std::uint8_t>(w.strb[i / 8] | 1U << (i % 8));
      }
      w_.push_back(w);
    }
    hold_address_ = hold_address;
    ++expected_writes;
  }

  bool done() const { return lasts == expected_reads && responses.size() == expected_writes; }

  std::vector<Sent> reads_sent, writes_sent;
  std::vector<ReadBeat> beats;
  std::vector<Response> responses;
  unsigned expected_reads = 0, expected_writes = 0, lasts = 0;
  Stall stall{0, 0, 0}; ///< of RREADY and BREADY

private:
  AxiAddress address(std::uint64_t addr, unsigned count, std::uint8_t id) const {
    AxiAddress a;
    a.valid = true;
    a.id = id;
    a.addr = addr;
    a.len = static_cast<std::uint8_t>(count - 1);
    a.wanted = {0, count * bus_bytes_ - 1};
    while (a.size < 7 && (1U << a.size) < bytes_)
      ++a.size;
    return a;
  }

public:
  /// What was driven in `cycle`, and what to drive in the next.
  void step(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s, AxiMasterPins &next) {
    if (m.ar.valid && s.arready) {
      ar_.pop_front();
      reads_sent.push_back({cycle});
    }
    if (m.aw.valid && s.awready) aw_.pop_front();
    if (m.w.valid && s.wready) {
      if (m.w.last) writes_sent.push_back({cycle});
      w_.pop_front();
    }
    if (s.r.valid && m.rready) {
      beats.push_back({cycle, s.r.id, s.r.resp, s.r.last, {s.r.data.begin(), s.r.data.begin() + bytes_}});
      lasts += s.r.last;
    }
    if (s.b.valid && m.bready) responses.push_back({cycle, s.b.id, s.b.resp});

    next = {};
    if (!ar_.empty()) next.ar = ar_.front();
    if (!aw_.empty() && !(hold_address_ && !w_.empty())) next.aw = aw_.front();
    if (!w_.empty()) next.w = w_.front();
    next.rready = !stall();
    next.bready = !stall();
  }

private:
  unsigned bytes_, bus_bytes_;
  bool hold_address_ = false;
  std::deque<AxiAddress> ar_, aw_;
  std::deque<AxiWriteData> w_;
};

/// The masters of all ports.
class AxiTestMasters : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(AxiTestMasters);

  AxiTestMasters(const sc_core::sc_module_name &name, ClockReset &clock, Registered<AxiMasterPorts> &out,
                 const Registered<AxiSlavePorts> &in, unsigned bus_bytes, unsigned port_bytes)
      : sc_module(name), clock_(clock), out_(out), in_(in) {
    for (unsigned i = 0; i < bus_bytes / port_bytes; ++i)
      port.emplace_back(PortPlace{port_bytes, i, bus_bytes / port_bytes});
    SC_METHOD(on_posedge);
    dont_initialize();
    sensitive << clock.posedge();
  }

  std::deque<AxiTestMaster> port;

private:
  void on_posedge() {
    for (std::size_t i = 0; i < port.size(); ++i)
      port[i].step(clock_.cycle() - 1, out_.read()[i], in_.read()[i], out_.next()[i]);
    out_.commit();
  }

  ClockReset &clock_;
  Registered<AxiMasterPorts> &out_;
  const Registered<AxiSlavePorts> &in_;
};

/// Masters, AxiMemory and memory on a clock that several benches may share (a simulation is elaborated once).
struct AxiBench {
  /// `port_bytes` 0: one port.
  AxiBench(const std::string &name, ClockReset &clock_, const MemoryConfig &dram, unsigned bus_bytes,
           const DeviceOptions &options = {}, unsigned port_bytes = 0)
      : clock(clock_), store(dram.size_bytes), request((name + "_request").c_str()), answer((name + "_answer").c_str()),
        masters((name + "_master").c_str(), clock, request, answer, bus_bytes, port_bytes ? port_bytes : bus_bytes),
        slave((name + "_slave").c_str(), clock, request, answer, dram, bus_bytes, port_bytes ? port_bytes : bus_bytes,
              options),
        memory((name + "_memory").c_str(), store) {
    slave.socket.bind(memory.socket);
  }

  bool done() const {
    return std::all_of(masters.port.begin(), masters.port.end(), [](const AxiTestMaster &m) { return m.done(); });
  }
  /// Simulates until all is answered; false if that takes more than `cycles`.
  bool finish(std::uint64_t cycles = 100000) {
    for (; cycles > 0 && !done(); --cycles)
      clock.run(1);
    return done();
  }

  ClockReset &clock;
  DeviceMemory store;
  Registered<AxiMasterPorts> request;
  Registered<AxiSlavePorts> answer;
  AxiTestMasters masters;
  AxiTestMaster &master = masters.port[0];
  AxiMemory slave;
  TlmMemory memory;
};

} // namespace gradweave::tb
