// One AXI4 slave port of the memory: handshakes, order, random back-pressure, faults, the bytes of beats.
#pragma once

#include "device/device.hpp"
#include "sw_models/memory/dram_timing.hpp"
#include "tb/bus/axi/axi_checker.hpp"
#include "tb/bus/axi/axi_types.hpp"
#include "tb/bus/stall.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace gradweave::tb {

/// The bytes behind ports.
class BeatStore {
public:
  /// Reads or writes a beat of `bytes` at `addr` of the bus. `strb`: bit i % 8 of byte i / 8 lets data[i] be written.
  virtual AxiResp read(std::uint64_t addr, unsigned bytes, std::uint8_t *data) = 0;
  virtual AxiResp write(std::uint64_t addr, unsigned bytes, const std::uint8_t *data, const std::uint8_t *strb) = 0;

protected:
  ~BeatStore() = default;
};

/// A port takes any number of bursts. When they are served is decided for all ports together (AxiMemory): a burst is
/// *there* once its address, for a write all of its data too, was taken; it *arrives* when it is there on every port;
/// and is then *granted*. Each port answers on its own, in order, from its grant on. The n-th burst of a direction is
/// on every port the same.
class AxiPort {
public:
  /// `dram` is that of the grants. Stress and faults of `options` are used; a port has stalls of its own, an address of
  /// a fault is one of the bus.
  AxiPort(const PortPlace &place, const DramTiming &dram, BeatStore &store, const DeviceOptions &options);

  /// What was driven in `cycle`; throws AxiViolation.
  void take(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s);
  /// What to drive in `cycle`, after `now`.
  void drive(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &now, AxiSlavePins &next);
  /// Forgets everything; for a cycle in reset.
  void clear();

  /// The first read or write that is there and has not arrived; null if there is none.
  const AxiAddress *waiting_read() const {
    return reads_arrived_ < reads_.size() ? &reads_[reads_arrived_].address : nullptr;
  }
  const AxiAddress *waiting_write() const {
    return writes_arrived_ < writes_complete_ ? &writes_[writes_arrived_].address : nullptr;
  }
  /// It arrives.
  void read_arrives() { ++reads_arrived_; }
  void write_arrives() { ++writes_arrived_; }
  /// The next one that arrived and was not granted is served.
  void grant_read(const DramTiming::Grant &grant) { reads_[reads_granted_++].grant = grant; }
  void grant_write(std::uint64_t response_cycle) { writes_[writes_granted_++].response_cycle = response_cycle; }

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

  void write_beat(const AxiWriteData &beat);
  void drive_read(std::uint64_t cycle, AxiReadData &r);
  void drive_response(std::uint64_t cycle, AxiWriteResponse &b);
  std::uint64_t beat_address(const AxiAddress &a, unsigned beat) const;
  const BusFault *fault_at(bool write, std::uint64_t addr) const;

  PortPlace place_;
  const DramTiming &dram_;
  BeatStore &store_;
  std::vector<BusFault> faults_;
  AxiChecker checker_;
  Stall stall_ar_, stall_aw_, stall_w_, stall_r_, stall_b_;

  // Bursts in order of their addresses. The leading entries are further on: data complete, arrived, granted.
  std::deque<Read> reads_;
  std::deque<Write> writes_;
  std::size_t reads_arrived_ = 0, reads_granted_ = 0;
  std::size_t writes_complete_ = 0, writes_arrived_ = 0, writes_granted_ = 0;
  std::deque<AxiWriteData> early_beats_; ///< data taken before its address
  std::uint64_t handshakes_ = 0;
};

} // namespace gradweave::tb
