#include "tb/bus/axi/axi_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gradweave::tb {

AxiMemory::AxiMemory(const sc_core::sc_module_name &name, ClockReset &clock, const Registered<AxiMasterPorts> &master,
                     Registered<AxiSlavePorts> &slave, const MemoryConfig &dram, unsigned bus_bytes,
                     unsigned port_bytes, const DeviceOptions &options)
    : sc_module(name), clock_(clock), master_(master), slave_(slave), dram_(dram), bus_bytes_(bus_bytes),
      timing_(dram, bus_bytes) {
  const unsigned ports = bus_bytes / port_bytes;
  ports_.reserve(ports);
  for (unsigned index = 0; index < ports; ++index)
    ports_.push_back(AxiPort(PortPlace{port_bytes, index, ports}, timing_, *this, options));
  for (tlm::tlm_dmi &range : dmi_) { // nothing is granted yet: an empty range
    range.set_start_address(1);
    range.set_end_address(0);
  }
  SC_METHOD(on_posedge);
  dont_initialize();
  sensitive << clock_.posedge();
}

bool AxiMemory::idle() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const AxiPort &port) { return port.idle(); });
}

std::uint64_t AxiMemory::handshakes() const {
  std::uint64_t sum = 0;
  for (const AxiPort &port : ports_)
    sum += port.handshakes();
  return sum;
}

void AxiMemory::on_posedge() {
  clock_.guard([this] {
    AxiSlavePorts &next = slave_.next();
    const std::uint64_t cycle = clock_.cycle();
    const AxiMasterPorts &m = master_.read();
    const AxiSlavePorts &s = slave_.read();
    if (!clock_.reset_n()) {
      clear();
      for (std::size_t p = 0; p < ports_.size(); ++p)
        next[p].arready = next[p].awready = next[p].wready = next[p].r.valid = next[p].b.valid = false;
    } else {
      for (std::size_t p = 0; p < ports_.size(); ++p)
        ports_[p].take(cycle - 1, m[p], s[p]);
      arrive(cycle - 1);
      schedule(cycle - 1);
      for (std::size_t p = 0; p < ports_.size(); ++p)
        ports_[p].drive(cycle, m[p], s[p], next[p]);
    }
    slave_.commit();
  });
}

void AxiMemory::clear() {
  if (!idle()) timing_ = DramTiming(dram_, bus_bytes_);
  for (AxiPort &port : ports_)
    port.clear();
}

/// What is there on all ports since the data and addresses of `cycle`.
void AxiMemory::arrive(std::uint64_t cycle) {
  const auto all = [this](auto &&is_there) { return std::all_of(ports_.begin(), ports_.end(), is_there); };
  while (all([](const AxiPort &port) { return port.waiting_read() != nullptr; })) {
    check_alike(cycle, DramTiming::Direction::kRead);
    timing_.push(DramTiming::Direction::kRead, cycle, ports_[0].waiting_read()->wanted.accesses(timing_.access_bytes()),
                 0);
    for (AxiPort &port : ports_)
      port.read_arrives();
  }
  while (all([](const AxiPort &port) { return port.waiting_write() != nullptr; })) {
    check_alike(cycle, DramTiming::Direction::kWrite);
    timing_.push(DramTiming::Direction::kWrite, cycle,
                 ports_[0].waiting_write()->wanted.accesses(timing_.access_bytes()), 0);
    for (AxiPort &port : ports_)
      port.write_arrives();
  }
}

void AxiMemory::check_alike(std::uint64_t cycle, DramTiming::Direction direction) const {
  const bool reads = direction == DramTiming::Direction::kRead;
  const auto burst = [&](const AxiPort &port) { return reads ? port.waiting_read() : port.waiting_write(); };
  const AxiAddress &first = *burst(ports_[0]);
  for (std::size_t p = 1; p < ports_.size(); ++p) {
    const AxiAddress &other = *burst(ports_[p]);
    if (other.addr != first.addr || other.len != first.len || other.wanted.first != first.wanted.first ||
        other.wanted.last != first.wanted.last)
      throw AxiViolation(
          fmt::format("AXI ports out of step in cycle {}: a {} of {} beats at {:#x} on port 0, of {} beats "
                      "at {:#x} on port {}",
                      cycle, reads ? "read" : "write", first.beats(), first.addr, other.beats(), other.addr, p));
  }
}

void AxiMemory::schedule(std::uint64_t cycle) {
  if (timing_.waiting() == 0) return;
  while (const auto grant = timing_.advance(cycle)) {
    for (AxiPort &port : ports_)
      if (grant->direction == DramTiming::Direction::kRead)
        port.grant_read(*grant);
      else
        port.grant_write(timing_.write_response_cycle(*grant));
  }
}

std::uint8_t *AxiMemory::direct(tlm::tlm_command command, std::uint64_t addr, unsigned bytes) {
  tlm::tlm_dmi &range = dmi_[command == tlm::TLM_WRITE_COMMAND ? 1 : 0];
  const auto covered = [&] { return range.get_start_address() <= addr && addr + bytes - 1 <= range.get_end_address(); };
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

AxiResp AxiMemory::read(std::uint64_t addr, unsigned bytes, std::uint8_t *data) {
  const std::uint8_t *memory = direct(tlm::TLM_READ_COMMAND, addr, bytes);
  if (memory == nullptr) return transport(tlm::TLM_READ_COMMAND, addr, bytes, data, nullptr);
  std::memcpy(data, memory, bytes);
  return AxiResp::kOkay;
}

AxiResp AxiMemory::write(std::uint64_t addr, unsigned bytes, const std::uint8_t *data, const std::uint8_t *strb) {
  if (std::uint8_t *memory = direct(tlm::TLM_WRITE_COMMAND, addr, bytes)) {
    for (unsigned i = 0; i < bytes; i += 8) {
      if (strb[i / 8] == 0xff) // the common case at memcpy's speed
        std::memcpy(memory + i, data + i, 8);
      else
        for (unsigned k = i; k < i + 8; ++k)
          if ((strb[k / 8] >> (k % 8)) & 1U) memory[k] = data[k];
    }
    return AxiResp::kOkay;
  }
  std::array<std::uint8_t, kMaxPortBytes> enables{};
  for (unsigned i = 0; i < bytes; ++i)
    enables[i] = (strb[i / 8] >> (i % 8)) & 1U ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  return transport(tlm::TLM_WRITE_COMMAND, addr, bytes, const_cast<std::uint8_t *>(data), enables.data());
}

/// `enables` null: all bytes.
AxiResp AxiMemory::transport(tlm::tlm_command command, std::uint64_t addr, unsigned bytes, std::uint8_t *data,
                             std::uint8_t *enables) {
  tlm::tlm_generic_payload request;
  request.set_command(command);
  request.set_address(addr);
  request.set_data_ptr(data);
  request.set_data_length(bytes);
  request.set_streaming_width(bytes);
  request.set_byte_enable_ptr(enables);
  request.set_byte_enable_length(enables == nullptr ? 0 : bytes);
  sc_core::sc_time delay;
  socket->b_transport(request, delay);
  if (request.is_response_ok()) return AxiResp::kOkay;
  return request.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE ? AxiResp::kDecErr : AxiResp::kSlvErr;
}

} // namespace gradweave::tb
