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

void put_write_data(std::string &line, const tb::AxiWriteData &w, unsigned bus_bytes) {
  put(line, w.valid, 1);
  put_if(line, w.valid, 'z', w.last, 1);
  for (unsigned i = bus_bytes; i-- > 0;)
    put_if(line, w.valid, 'z', bit_of(w.strb.data(), i), 1);
  for (unsigned i = bus_bytes; i-- > 0;)
    put_if(line, w.valid && bit_of(w.strb.data(), i), 'z', w.data[i], 8);
}

void put_address(std::string &line, const tb::AxiAddress &a) {
  put(line, a.valid, 1);
  for (const auto &[value, width] : {std::pair<std::uint64_t, unsigned>(a.id, 1),
                                     {a.addr, 64},
                                     {a.len, 8},
                                     {a.size, 3},
                                     {a.burst, 2},
                                     {a.wanted.last, 12},
                                     {a.wanted.first, 12}})
    put_if(line, a.valid, 'z', value, width);
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

RecordingNpu::RecordingNpu(std::unique_ptr<tb::NpuModel> npu, const std::string &file, unsigned bus_bytes,
                           unsigned engines)
    : npu_(std::move(npu)), bus_bytes_(bus_bytes), engines_(engines) {
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
  const tb::AxiSlavePins &m = in.memory;
  put(line_, m.arready, 1);
  put(line_, m.awready, 1);
  put(line_, m.wready, 1);
  put(line_, m.r.valid, 1);
  put_if(line_, m.r.valid, 'x', m.r.id, 1);
  put_if(line_, m.r.valid, 'x', static_cast<unsigned>(m.r.resp), 2);
  put_if(line_, m.r.valid, 'x', m.r.last, 1);
  if (m.r.valid)
    put_bytes(line_, m.r.data.data(), bus_bytes_);
  else
    line_.append(std::size_t{8} * bus_bytes_, 'x');
  put(line_, m.b.valid, 1);
  put_if(line_, m.b.valid, 'x', m.b.id, 1);
  put_if(line_, m.b.valid, 'x', static_cast<unsigned>(m.b.resp), 2);
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
  const tb::AxiMasterPins &m = out.memory;
  put_address(line_, m.ar);
  put_address(line_, m.aw);
  put_write_data(line_, m.w, bus_bytes_);
  put(line_, m.rready, 1);
  put(line_, m.bready, 1);
  put_events(line_, out.events, engines_);
}

} // namespace gradweave::test
