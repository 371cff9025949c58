#include "tests/icarus/recording_npu.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace gradweave::test {
namespace {

/// The low `width` bits of `value`, most significant first.
void put(std::string &line, std::uint64_t value, unsigned width) {
  for (unsigned bit = width; bit-- > 0;)
    line += (value >> bit) & 1U ? '1' : '0';
}

/// The same, but `other` in every place if not `valid`.
void put_if(std::string &line, bool valid, char other, std::uint64_t value, unsigned width) {
  if (valid)
    put(line, value, width);
  else
    line.append(width, other);
}

/// Bytes, the last first: the order of a packed vector.
void put_bytes(std::string &line, const std::uint8_t *bytes, unsigned count) {
  for (unsigned i = count; i-- > 0;)
    put(line, bytes[i], 8);
}

bool bit_of(const std::uint8_t *bytes, unsigned i) { return ((bytes[i / 8] >> i % 8) & 1U) != 0; }

/// Of each of `count` ports, the highest first: the order of a packed vector. `part` has pins and the line.
template <class Pins, class Part>
void put_ports(std::string &line, const std::array<Pins, kMaxPorts> &ports, unsigned count, const Part &part) {
  for (unsigned i = count; i-- > 0;)
    part(line, ports[i]);
}

/// Field `of` of `width` bits of a channel of all ports.
template <class Pins, class Channel, class Field>
void put_field(std::string &line, const std::array<Pins, kMaxPorts> &ports, unsigned count, const Channel &channel,
               char other, const Field &field, unsigned width) {
  put_ports(line, ports, count, [&](std::string &to, const Pins &pins) {
    const auto &c = channel(pins);
    put_if(to, c.valid, other, static_cast<std::uint64_t>(field(c)), width);
  });
}

template <class Channel>
void put_addresses(std::string &line, const tb::AxiMasterPorts &ports, unsigned count, const Channel &channel) {
  using Address = tb::AxiAddress;
  put_ports(line, ports, count, [&](auto &to, const auto &pins) { put(to, channel(pins).valid, 1); });
  const auto field = [&](const auto &of, unsigned width) { put_field(line, ports, count, channel, 'z', of, width); };
  field([](const Address &a) { return a.id; }, 1);
  field([](const Address &a) { return a.addr; }, 64);
  field([](const Address &a) { return a.len; }, 8);
  field([](const Address &a) { return a.size; }, 3);
  field([](const Address &a) { return a.burst; }, 2);
  field([](const Address &a) { return std::uint64_t{a.wanted.last} << 12U | a.wanted.first; }, 24);
}

void put_events(std::string &line, const tb::NpuEvents &e, unsigned engines) {
  put(line, e.running, 1);
  put(line, e.issued, 1);
  put_if(line, e.issued, 'z', e.issue_index, 32);
  for (const auto &[events, index] : {std::pair(e.started, &e.start_index), std::pair(e.done, &e.done_index)}) {
    put(line, events, engines);
    for (unsigned engine = engines; engine-- > 0;)
      put_if(line, ((events >> engine) & 1U) != 0, 'z', index->at(engine), 32);
  }
}

} // namespace

RecordingNpu::RecordingNpu(std::unique_ptr<tb::NpuModel> npu, const std::string &file, const tb::PortPlace &port,
                           unsigned engines)
    : npu_(std::move(npu)), port_(port), engines_(engines) {
  if (std::filesystem::exists(file))
    throw std::runtime_error(file + ": exists; a recording is of one NPU, so run one job at a time into a new file");
  file_.open(file);
  if (!file_) throw std::runtime_error(file + ": cannot be written; name a file in a directory that can be");
}

void RecordingNpu::cycle(const tb::NpuInputs &in, tb::NpuOutputs &out) {
  line_.clear();
  write_inputs(in);
  line_ += ' ';
  npu_->cycle(in, out);
  write_outputs(out);
  file_ << line_ << '\n';
}

void RecordingNpu::write_inputs(const tb::NpuInputs &in) {
  put(line_, in.reset_n, 1);
  const tb::AxiLiteMasterPins &c = in.csr;
  put(line_, c.awvalid, 1);
  put_if(line_, c.awvalid, 'x', c.awaddr, 12);
  put(line_, c.wvalid, 1);
  put_if(line_, c.wvalid, 'x', c.wdata, 32);
  put_if(line_, c.wvalid, 'x', c.wstrb, 4);
  put(line_, c.bready, 1);
  put(line_, c.arvalid, 1);
  put_if(line_, c.arvalid, 'x', c.araddr, 12);
  put(line_, c.rready, 1);
  write_memory_inputs(in.memory);
}

void RecordingNpu::write_memory_inputs(const tb::AxiSlavePorts &ports) {
  using Pins = tb::AxiSlavePins;
  const unsigned count = port_.ports;
  const auto each = [&](const auto &part) { put_ports(line_, ports, count, part); };
  each([](std::string &to, const Pins &m) { put(to, m.arready, 1); });
  each([](std::string &to, const Pins &m) { put(to, m.awready, 1); });
  each([](std::string &to, const Pins &m) { put(to, m.wready, 1); });
  each([](std::string &to, const Pins &m) { put(to, m.r.valid, 1); });
  each([](std::string &to, const Pins &m) { put_if(to, m.r.valid, 'x', m.r.id, 1); });
  each([](std::string &to, const Pins &m) { put_if(to, m.r.valid, 'x', static_cast<unsigned>(m.r.resp), 2); });
  each([](std::string &to, const Pins &m) { put_if(to, m.r.valid, 'x', m.r.last, 1); });
  each([this](std::string &to, const Pins &m) {
    if (m.r.valid)
      put_bytes(to, m.r.data.data(), port_.bytes);
    else
      to.append(std::size_t{8} * port_.bytes, 'x');
  });
  each([](std::string &to, const Pins &m) { put(to, m.b.valid, 1); });
  each([](std::string &to, const Pins &m) { put_if(to, m.b.valid, 'x', m.b.id, 1); });
  each([](std::string &to, const Pins &m) { put_if(to, m.b.valid, 'x', static_cast<unsigned>(m.b.resp), 2); });
}

void RecordingNpu::write_memory_outputs(const tb::AxiMasterPorts &ports) {
  using Pins = tb::AxiMasterPins;
  const unsigned count = port_.ports;
  const auto each = [&](const auto &part) { put_ports(line_, ports, count, part); };
  put_addresses(line_, ports, count, [](const Pins &m) -> const tb::AxiAddress & { return m.ar; });
  put_addresses(line_, ports, count, [](const Pins &m) -> const tb::AxiAddress & { return m.aw; });
  each([](std::string &to, const Pins &m) { put(to, m.w.valid, 1); });
  each([](std::string &to, const Pins &m) { put_if(to, m.w.valid, 'z', m.w.last, 1); });
  each([this](std::string &to, const Pins &m) {
    for (unsigned i = port_.bytes; i-- > 0;)
      put_if(to, m.w.valid, 'z', bit_of(m.w.strb.data(), i), 1);
  });
  each([this](std::string &to, const Pins &m) {
    for (unsigned i = port_.bytes; i-- > 0;)
      put_if(to, m.w.valid && bit_of(m.w.strb.data(), i), 'z', m.w.data[i], 8);
  });
  each([](std::string &to, const Pins &m) { put(to, m.rready, 1); });
  each([](std::string &to, const Pins &m) { put(to, m.bready, 1); });
}

void RecordingNpu::write_outputs(const tb::NpuOutputs &out) {
  put(line_, out.irq, 1);
  const tb::AxiLiteSlavePins &c = out.csr;
  put(line_, c.awready, 1);
  put(line_, c.wready, 1);
  put(line_, c.bvalid, 1);
  put_if(line_, c.bvalid, 'z', static_cast<unsigned>(c.bresp), 2);
  put(line_, c.arready, 1);
  put(line_, c.rvalid, 1);
  put_if(line_, c.rvalid, 'z', static_cast<unsigned>(c.rresp), 2);
  put_if(line_, c.rvalid, 'z', c.rdata, 32);
  write_memory_outputs(out.memory);
  put_events(line_, out.events, engines_);
}

} // namespace gradweave::test
