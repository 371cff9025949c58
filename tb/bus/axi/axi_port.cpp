#include "tb/bus/axi/axi_port.hpp"

namespace gradweave::tb {

namespace {

enum StallStream : std::uint64_t { kAr = 1, kAw, kW, kR, kB };
constexpr std::uint64_t kStallStreamsOfPort = 20; // some of the first 20 are the register interface's

AxiResp worse(AxiResp a, AxiResp b) { return a == AxiResp::kOkay ? b : a; }

Stall port_stall(const PortPlace &place, StallStream channel, const BusStress &stress) {
  return {stress.seed, place.index * kStallStreamsOfPort + channel, stress.stall_probability};
}

} // namespace

AxiPort::AxiPort(const PortPlace &place, const DramTiming &dram, BeatStore &store, const DeviceOptions &options)
    : place_(place), dram_(dram), store_(store), faults_(options.faults), checker_(place),
      stall_ar_(port_stall(place, kAr, options.stress)), stall_aw_(port_stall(place, kAw, options.stress)),
      stall_w_(port_stall(place, kW, options.stress)), stall_r_(port_stall(place, kR, options.stress)),
      stall_b_(port_stall(place, kB, options.stress)) {}

void AxiPort::clear() {
  checker_.reset();
  reads_.clear();
  writes_.clear();
  early_beats_.clear();
  reads_arrived_ = reads_granted_ = writes_complete_ = writes_arrived_ = writes_granted_ = 0;
}

void AxiPort::take(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s) {
  checker_.observe(cycle, m, s);
  if (m.ar.valid && s.arready) {
    reads_.push_back({m.ar, 0, {}});
    ++handshakes_;
  }
  if (m.aw.valid && s.awready) {
    writes_.push_back({m.aw, 0, AxiResp::kOkay, false, 0});
    ++handshakes_;
    while (!early_beats_.empty() && writes_complete_ < writes_.size()) {
      write_beat(early_beats_.front());
      early_beats_.pop_front();
    }
  }
  if (m.w.valid && s.wready) {
    if (writes_complete_ < writes_.size())
      write_beat(m.w);
    else
      early_beats_.push_back(m.w);
    ++handshakes_;
  }
  if (s.r.valid && m.rready) ++handshakes_;
  if (s.b.valid && m.bready) ++handshakes_;
}

void AxiPort::write_beat(const AxiWriteData &beat) {
  Write &write = writes_[writes_complete_];
  const std::uint64_t addr = beat_address(write.address, write.next_beat);
  if (const BusFault *fault = fault_at(true, addr)) {
    write.hangs |= fault->kind == BusFault::Kind::kHang;
    write.resp = worse(write.resp, fault->kind == BusFault::Kind::kDecErr ? AxiResp::kDecErr : AxiResp::kSlvErr);
  } else {
    write.resp = worse(write.resp, store_.write(addr, place_.bytes, beat.data.data(), beat.strb.data()));
  }
  if (++write.next_beat == write.address.beats()) ++writes_complete_;
}

void AxiPort::drive(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &now, AxiSlavePins &next) {
  next.arready = !stall_ar_();
  next.awready = !stall_aw_();
  next.wready = !stall_w_();
  if (now.r.valid && !m.rready) {
    next.r = now.r;
  } else {
    next.r.valid = false;
    if (reads_granted_ > 0 && !stall_r_()) drive_read(cycle, next.r);
  }
  if (now.b.valid && !m.bready) {
    next.b = now.b;
  } else {
    next.b.valid = false;
    if (writes_granted_ > 0 && !stall_b_()) drive_response(cycle, next.b);
  }
}

void AxiPort::drive_read(std::uint64_t cycle, AxiReadData &r) {
  Read &read = reads_.front();
  const std::uint32_t last = read.address.wanted.last_access(read.next_beat, place_.bus_bytes(), dram_.access_bytes());
  if (dram_.read_beat_cycle(read.grant, last) > cycle) return;
  const std::uint64_t addr = beat_address(read.address, read.next_beat);
  const BusFault *fault = fault_at(false, addr);
  if (fault && fault->kind == BusFault::Kind::kHang) return;
  r.valid = true;
  r.id = read.address.id;
  r.last = ++read.next_beat == read.address.beats();
  r.resp = fault ? (fault->kind == BusFault::Kind::kDecErr ? AxiResp::kDecErr : AxiResp::kSlvErr)
                 : store_.read(addr, place_.bytes, r.data.data());
  if (r.last) {
    reads_.pop_front();
    --reads_arrived_;
    --reads_granted_;
  }
}

void AxiPort::drive_response(std::uint64_t cycle, AxiWriteResponse &b) {
  const Write &write = writes_.front();
  if (write.hangs || write.response_cycle > cycle) return;
  b.valid = true;
  b.id = write.address.id;
  b.resp = write.resp;
  writes_.pop_front();
  --writes_complete_;
  --writes_arrived_;
  --writes_granted_;
}

std::uint64_t AxiPort::beat_address(const AxiAddress &a, unsigned beat) const {
  return place_.bus_address((a.addr & ~std::uint64_t{place_.bytes - 1}) + std::uint64_t{beat} * place_.bytes);
}

const BusFault *AxiPort::fault_at(bool write, std::uint64_t addr) const {
  for (const BusFault &fault : faults_)
    if (fault.write == write && addr < fault.addr + fault.bytes && addr + place_.bytes > fault.addr) return &fault;
  return nullptr;
}

} // namespace gradweave::tb
