#include "tb/bus/axi_memory.hpp"

#include <algorithm>
#include <cstring>

namespace gradweave::tb {

namespace {

enum StallStream : std::uint64_t { kAr = 1, kAw, kW, kR, kB };

AxiResp worse(AxiResp a, AxiResp b) { return a == AxiResp::kOkay ? b : a; }

} // namespace

AxiMemory::AxiMemory(const sc_core::sc_module_name &name, ClockReset &clock, const Registered<AxiMasterPins> &master,
                     Registered<AxiSlavePins> &slave, const MemoryConfig &dram, unsigned bus_bytes,
                     const DeviceOptions &options)
    : sc_module(name), clock_(clock), master_(master), slave_(slave), dram_(dram), bus_bytes_(bus_bytes),
      faults_(options.faults), checker_(bus_bytes), timing_(dram, bus_bytes),
      stall_ar_(options.stress.seed, kAr, options.stress.stall_probability),
      stall_aw_(options.stress.seed, kAw, options.stress.stall_probability),
      stall_w_(options.stress.seed, kW, options.stress.stall_probability),
      stall_r_(options.stress.seed, kR, options.stress.stall_probability),
      stall_b_(options.stress.seed, kB, options.stress.stall_probability) {
  for (tlm::tlm_dmi &range : dmi_) { // nothing is granted yet: an empty range
    range.set_start_address(1);
    range.set_end_address(0);
  }
  SC_METHOD(on_posedge);
  dont_initialize();
  sensitive << clock_.posedge();
}

void AxiMemory::on_posedge() {
  clock_.guard([this] {
    AxiSlavePins &next = slave_.next();
    if (!clock_.reset_n()) {
      clear();
      next.arready = next.awready = next.wready = next.r.valid = next.b.valid = false;
    } else {
      const std::uint64_t cycle = clock_.cycle();
      const AxiMasterPins &m = master_.read();
      const AxiSlavePins &s = slave_.read();
      checker_.observe(cycle - 1, m, s);
      take(cycle - 1, m, s);
      schedule(cycle - 1);
      drive(cycle, m, s, next);
    }
    slave_.commit();
  });
}

void AxiMemory::clear() {
  checker_.reset();
  if (idle()) return;
  timing_ = DramTiming(dram_, bus_bytes_);
  reads_.clear();
  writes_.clear();
  early_beats_.clear();
  reads_granted_ = writes_complete_ = writes_granted_ = 0;
}

void AxiMemory::take(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &s) {
  if (m.ar.valid && s.arready) {
    reads_.push_back({m.ar, 0, {}});
    timing_.push(DramTiming::Direction::kRead, cycle, m.ar.wanted.accesses(timing_.access_bytes()), 0);
    ++handshakes_;
  }
  if (m.aw.valid && s.awready) {
    writes_.push_back({m.aw, 0, AxiResp::kOkay, false, 0});
    ++handshakes_;
    while (!early_beats_.empty() && writes_complete_ < writes_.size()) {
      write_beat(cycle, early_beats_.front());
      early_beats_.pop_front();
    }
  }
  if (m.w.valid && s.wready) {
    if (writes_complete_ < writes_.size())
      write_beat(cycle, m.w);
    else
      early_beats_.push_back(m.w);
    ++handshakes_;
  }
  if (s.r.valid && m.rready) ++handshakes_;
  if (s.b.valid && m.bready) ++handshakes_;
}

void AxiMemory::write_beat(std::uint64_t cycle, const AxiWriteData &beat) {
  Write &write = writes_[writes_complete_];
  const std::uint64_t addr = beat_address(write.address, write.next_beat);
  if (const BusFault *fault = fault_at(true, addr)) {
    write.hangs |= fault->kind == BusFault::Kind::kHang;
    write.resp = worse(write.resp, fault->kind == BusFault::Kind::kDecErr ? AxiResp::kDecErr : AxiResp::kSlvErr);
  } else {
    write.resp = worse(write.resp, access(tlm::TLM_WRITE_COMMAND, addr, const_cast<std::uint8_t *>(beat.data.data()),
                                          beat.strb.data()));
  }
  if (++write.next_beat < write.address.beats()) return;
  timing_.push(DramTiming::Direction::kWrite, cycle, write.address.wanted.accesses(timing_.access_bytes()), 0);
  ++writes_complete_;
}

void AxiMemory::schedule(std::uint64_t cycle) {
  if (timing_.waiting() == 0) return;
  while (const auto grant = timing_.advance(cycle)) {
    if (grant->direction == DramTiming::Direction::kRead)
      reads_[reads_granted_++].grant = *grant;
    else
      writes_[writes_granted_++].response_cycle = timing_.write_response_cycle(*grant);
  }
}

void AxiMemory::drive(std::uint64_t cycle, const AxiMasterPins &m, const AxiSlavePins &now, AxiSlavePins &next) {
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

void AxiMemory::drive_read(std::uint64_t cycle, AxiReadData &r) {
  Read &read = reads_.front();
  const std::uint32_t last = read.address.wanted.last_access(read.next_beat, bus_bytes_, timing_.access_bytes());
  if (timing_.read_beat_cycle(read.grant, last) > cycle) return;
  const std::uint64_t addr = beat_address(read.address, read.next_beat);
  const BusFault *fault = fault_at(false, addr);
  if (fault && fault->kind == BusFault::Kind::kHang) return;
  r.valid = true;
  r.id = read.address.id;
  r.last = ++read.next_beat == read.address.beats();
  r.resp = fault ? (fault->kind == BusFault::Kind::kDecErr ? AxiResp::kDecErr : AxiResp::kSlvErr)
                 : access(tlm::TLM_READ_COMMAND, addr, r.data.data(), nullptr);
  if (r.last) {
    reads_.pop_front();
    --reads_granted_;
  }
}

void AxiMemory::drive_response(std::uint64_t cycle, AxiWriteResponse &b) {
  const Write &write = writes_.front();
  if (write.hangs || write.response_cycle > cycle) return;
  b.valid = true;
  b.id = write.address.id;
  b.resp = write.resp;
  writes_.pop_front();
  --writes_complete_;
  --writes_granted_;
}

std::uint64_t AxiMemory::beat_address(const AxiAddress &a, unsigned beat) const {
  return (a.addr & ~std::uint64_t{bus_bytes_ - 1}) + std::uint64_t{beat} * bus_bytes_;
}

const BusFault *AxiMemory::fault_at(bool write, std::uint64_t addr) const {
  for (const BusFault &fault : faults_)
    if (fault.write == write && addr < fault.addr + fault.bytes && addr + bus_bytes_ > fault.addr) return &fault;
  return nullptr;
}

std::uint8_t *AxiMemory::direct(tlm::tlm_command command, std::uint64_t addr) {
  tlm::tlm_dmi &range = dmi_[command == tlm::TLM_WRITE_COMMAND ? 1 : 0];
  const auto covered = [&] {
    return range.get_start_address() <= addr && addr + bus_bytes_ - 1 <= range.get_end_address();
  };
  if (!covered()) {
    tlm::tlm_generic_payload request;
    request.set_command(command);
    request.set_address(addr);
    tlm::tlm_dmi offered;
    if (!socket->get_direct_mem_ptr(request, offered)) return nullptr;
    range = offered;
    if (!covered()) return nullptr;
  }
  return range.get_dmi_ptr() + (addr - range.get_start_address());
}

AxiResp AxiMemory::access(tlm::tlm_command command, std::uint64_t addr, std::uint8_t *data, const std::uint8_t *strb) {
  if (std::uint8_t *memory = direct(command, addr)) {
    if (command == tlm::TLM_READ_COMMAND) {
      std::memcpy(data, memory, bus_bytes_);
    } else {
      for (unsigned i = 0; i < bus_bytes_; i += 8) {
        if (strb[i / 8] == 0xff) // the common case at memcpy's speed
          std::memcpy(memory + i, data + i, 8);
        else
          for (unsigned k = i; k < i + 8; ++k)
            if ((strb[k / 8] >> (k % 8)) & 1U) memory[k] = data[k];
      }
    }
    return AxiResp::kOkay;
  }

  std::array<std::uint8_t, kMaxBusBytes> enables{};
  tlm::tlm_generic_payload request;
  request.set_command(command);
  request.set_address(addr);
  request.set_data_ptr(data);
  request.set_data_length(bus_bytes_);
  request.set_streaming_width(bus_bytes_);
  if (strb) {
    for (unsigned i = 0; i < bus_bytes_; ++i)
      enables[i] = (strb[i / 8] >> (i % 8)) & 1U ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    request.set_byte_enable_ptr(enables.data());
    request.set_byte_enable_length(bus_bytes_);
  }
  sc_core::sc_time delay;
  socket->b_transport(request, delay);
  if (request.is_response_ok()) return AxiResp::kOkay;
  return request.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE ? AxiResp::kDecErr : AxiResp::kSlvErr;
}

} // namespace gradweave::tb
