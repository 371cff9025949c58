// make_npu_model() for the Verilated class of one configuration (Vnpu.h is found in that model's directory).
#include "tb/npu_model.hpp"

#include "Vnpu.h"
#include "verilated_fst_c.h"
#if VM_COVERAGE
#include "tests/coverage/verilated_probe.hpp"
#endif

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <type_traits>

namespace gradweave::tb {

namespace {

// Verilator gives a port the C++ type of its width (CData ... QData, VlWide); little-endian bytes are the same in all.
template <class Port> void put(Port &port, const void *bytes) {
  static_assert(std::is_trivially_copyable_v<Port> && std::is_standard_layout_v<Port>);
  std::memcpy(&port, bytes, sizeof(Port));
}

/// Bits [width * i, width * (i + 1)) of a vector of fields of at most 64 bits, multiples of 8 if above 56.
template <class Vector> std::uint64_t field(const Vector &vector, unsigned i, unsigned width) {
  const std::size_t first = std::size_t{i} * width, byte = first / 8;
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char *>(&vector) + byte, std::min(sizeof(value), sizeof(Vector) - byte));
  value >>= first % 8;
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}
bool bit(std::uint32_t vector, unsigned i) { return ((vector >> i) & 1U) != 0; }

/// Puts the low `width` bits of `value` into such a vector.
void set_field(std::uint32_t &vector, unsigned i, unsigned width, std::uint32_t value) {
  const std::uint32_t mask = ((1U << width) - 1) << (i * width);
  vector = (vector & ~mask) | value << (i * width);
}

/// AxUSER of the NPU: the last wanted byte above the first.
BurstBytes wanted(std::uint32_t user) { return {user & 0xFFFU, user >> 12U}; }

/// Registers start as noise, always the same, if the model was verilated with "--x-initial unique"; else as zeros.
VerilatedContext *with_random_registers(VerilatedContext &context) {
  context.randReset(2);
  context.randSeed(1);
  return &context;
}

class VerilatedNpu final : public NpuModel {
public:
  VerilatedNpu() {
    // An assertion that fails is reported through gotError() instead of ending the process.
    context_.fatalOnError(false);
    context_.traceEverOn(true);
    top_.rst_ni = 1;
    top_.eval();
    top_.rst_ni = 0; // an edge, so that the registers are reset before the first cycle, as in hardware
    top_.eval();
  }
  ~VerilatedNpu() override {
    close_trace();
    enter();
    top_.final();
  }

  void cycle(const NpuInputs &in, NpuOutputs &out) override {
    enter();
    top_.rst_ni = in.reset_n;
    drive_csr(in.csr);
    drive_memory(in.memory);
    top_.clk_i = 1;
    top_.eval();
#if VM_COVERAGE
    probe_.after_edge();
#endif
    dump(0);
    sample_csr(out.csr);
    sample_memory(out.memory);
    sample_events(out.events);
    out.irq = top_.irq_o;
    top_.clk_i = 0;
    top_.eval();
    dump(period_ps_ / 2);
    time_ps_ += period_ps_;
    if (context_.gotError()) throw std::runtime_error("an assertion of the RTL failed; its message is above");
  }

  void open_trace(const std::string &file, std::uint64_t first_cycle, std::uint64_t period_ps) override {
    enter();
    if (!std::ofstream(file)) throw std::runtime_error("cannot write the trace file " + file);
    trace_ = std::make_unique<VerilatedFstC>();
    top_.trace(trace_.get(), 99);
    trace_->open(file.c_str());
    period_ps_ = period_ps;
    time_ps_ = first_cycle * period_ps;
  }

  void close_trace() override {
    enter();
    if (trace_) trace_->close();
    trace_.reset();
  }

private:
  /// Verilator notes a failing assertion in the context that its thread used last, which another model may have been.
  void enter() { Verilated::threadContextp(&context_); }

  void dump(std::uint64_t offset_ps) {
    if (trace_) trace_->dump(time_ps_ + offset_ps);
  }

  void drive_csr(const AxiLiteMasterPins &p) {
    top_.s_axil_awvalid_i = p.awvalid;
    top_.s_axil_awaddr_i = p.awaddr;
    top_.s_axil_wvalid_i = p.wvalid;
    top_.s_axil_wdata_i = p.wdata;
    top_.s_axil_wstrb_i = p.wstrb;
    top_.s_axil_bready_i = p.bready;
    top_.s_axil_arvalid_i = p.arvalid;
    top_.s_axil_araddr_i = p.araddr;
    top_.s_axil_rready_i = p.rready;
  }

  void sample_csr(AxiLiteSlavePins &p) const {
    p.awready = top_.s_axil_awready_o;
    p.wready = top_.s_axil_wready_o;
    p.bvalid = top_.s_axil_bvalid_o;
    p.bresp = static_cast<AxiResp>(top_.s_axil_bresp_o);
    p.arready = top_.s_axil_arready_o;
    p.rvalid = top_.s_axil_rvalid_o;
    p.rresp = static_cast<AxiResp>(top_.s_axil_rresp_o);
    p.rdata = top_.s_axil_rdata_o;
  }

  void drive_memory(const AxiSlavePorts &ports) {
    std::uint32_t arready = 0, awready = 0, wready = 0, rvalid = 0, bvalid = 0, bid = 0, bresp = 0;
    for (unsigned i = 0; i < kPorts; ++i) {
      const AxiSlavePins &p = ports[i];
      set_field(arready, i, 1, p.arready);
      set_field(awready, i, 1, p.awready);
      set_field(wready, i, 1, p.wready);
      set_field(rvalid, i, 1, p.r.valid);
      if (p.r.valid) { // an input that does not change costs nothing
        set_field(rid_, i, 1, p.r.id);
        set_field(rresp_, i, 2, static_cast<std::uint8_t>(p.r.resp));
        set_field(rlast_, i, 1, p.r.last);
        std::memcpy(reinterpret_cast<char *>(&top_.m_axi_rdata_i) + i * kPortBytes, p.r.data.data(), kPortBytes);
      }
      set_field(bvalid, i, 1, p.b.valid);
      set_field(bid, i, 1, p.b.id);
      set_field(bresp, i, 2, static_cast<std::uint8_t>(p.b.resp));
    }
    put(top_.m_axi_arready_i, &arready);
    put(top_.m_axi_awready_i, &awready);
    put(top_.m_axi_wready_i, &wready);
    put(top_.m_axi_rvalid_i, &rvalid);
    put(top_.m_axi_rid_i, &rid_);
    put(top_.m_axi_rresp_i, &rresp_);
    put(top_.m_axi_rlast_i, &rlast_);
    put(top_.m_axi_bvalid_i, &bvalid);
    put(top_.m_axi_bid_i, &bid);
    put(top_.m_axi_bresp_i, &bresp);
  }

  void sample_memory(AxiMasterPorts &ports) const {
    for (unsigned i = 0; i < kPorts; ++i) {
      AxiMasterPins &p = ports[i];
      p.ar.valid = bit(top_.m_axi_arvalid_o, i);
      p.ar.id = bit(top_.m_axi_arid_o, i);
      p.ar.addr = field(top_.m_axi_araddr_o, i, 64);
      p.ar.len = static_cast<std::uint8_t>(field(top_.m_axi_arlen_o, i, 8));
      p.ar.size = static_cast<std::uint8_t>(field(top_.m_axi_arsize_o, i, 3));
      p.ar.burst = static_cast<std::uint8_t>(field(top_.m_axi_arburst_o, i, 2));
      p.ar.wanted = wanted(static_cast<std::uint32_t>(field(top_.m_axi_aruser_o, i, 24)));
      p.aw.valid = bit(top_.m_axi_awvalid_o, i);
      p.aw.id = bit(top_.m_axi_awid_o, i);
      p.aw.addr = field(top_.m_axi_awaddr_o, i, 64);
      p.aw.len = static_cast<std::uint8_t>(field(top_.m_axi_awlen_o, i, 8));
      p.aw.size = static_cast<std::uint8_t>(field(top_.m_axi_awsize_o, i, 3));
      p.aw.burst = static_cast<std::uint8_t>(field(top_.m_axi_awburst_o, i, 2));
      p.aw.wanted = wanted(static_cast<std::uint32_t>(field(top_.m_axi_awuser_o, i, 24)));
      p.w.valid = bit(top_.m_axi_wvalid_o, i);
      if (p.w.valid) sample_write_data(i, p.w);
      p.rready = bit(top_.m_axi_rready_o, i);
      p.bready = bit(top_.m_axi_bready_o, i);
    }
  }

  void sample_write_data(unsigned i, AxiWriteData &w) const {
    w.last = bit(top_.m_axi_wlast_o, i);
    std::memcpy(w.data.data(), reinterpret_cast<const char *>(&top_.m_axi_wdata_o) + i * kPortBytes, kPortBytes);
    if constexpr (kPortBytes >= 8) {
      std::memcpy(w.strb.data(), reinterpret_cast<const char *>(&top_.m_axi_wstrb_o) + i * kPortBytes / 8,
                  kPortBytes / 8);
    } else {
      w.strb[0] = static_cast<std::uint8_t>(field(top_.m_axi_wstrb_o, i, kPortBytes));
    }
  }

  void sample_events(NpuEvents &e) const {
    e.running = top_.evt_run_o;
    e.issued = top_.evt_issue_o;
    e.issue_index = top_.evt_issue_index_o;
    e.started = top_.evt_start_o;
    e.done = top_.evt_done_o;
    static_assert(sizeof(top_.evt_start_index_o) <= sizeof(e.start_index), "more engines than kMaxEngines");
    if (e.started) std::memcpy(e.start_index.data(), &top_.evt_start_index_o, sizeof(top_.evt_start_index_o));
    if (e.done) std::memcpy(e.done_index.data(), &top_.evt_done_index_o, sizeof(top_.evt_done_index_o));
  }

  // As the model was verilated: an address has 64 bits, data the width of the bus.
  static constexpr unsigned kAddressBytes = 8;
  static constexpr unsigned kPorts = sizeof(Vnpu::m_axi_araddr_o) / kAddressBytes;
  static constexpr unsigned kPortBytes = sizeof(Vnpu::m_axi_rdata_i) / kPorts;
  static_assert(kPorts <= kMaxPorts && kPortBytes <= kMaxPortBytes, "more or wider ports than the testbench has");

  std::uint32_t rid_ = 0, rresp_ = 0, rlast_ = 0; ///< of each port's last beat
  VerilatedContext context_;
  Vnpu top_{with_random_registers(context_)};
#if VM_COVERAGE
  coverage::VerilatedProbe probe_{top_, context_};
#endif
  std::unique_ptr<VerilatedFstC> trace_;
  std::uint64_t period_ps_ = 1000, time_ps_ = 0;
};

} // namespace

std::unique_ptr<NpuModel> make_npu_model() { return std::make_unique<VerilatedNpu>(); }

} // namespace gradweave::tb
