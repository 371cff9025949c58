// make_npu_model() for the Verilated class of one configuration (Vnpu.h is found in that model's directory).
#include "tb/npu_model.hpp"

#include "Vnpu.h"
#include "verilated_fst_c.h"
#if VM_COVERAGE
#include "tests/coverage/verilated_probe.hpp"
#endif

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

template <class Port, std::size_t N> void get(const Port &port, std::array<std::uint8_t, N> &bytes) {
  static_assert(sizeof(Port) <= N, "the memory bus is wider than kMaxBusBytes");
  std::memcpy(bytes.data(), &port, sizeof(Port));
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
#if VM_COVERAGE
    probe_.before_edge();
    top_.eval();
    probe_.after_edge();
#else
    top_.eval();
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

  void drive_memory(const AxiSlavePins &p) {
    top_.m_axi_arready_i = p.arready;
    top_.m_axi_awready_i = p.awready;
    top_.m_axi_wready_i = p.wready;
    top_.m_axi_rvalid_i = p.r.valid;
    if (p.r.valid) { // an input that does not change costs nothing
      top_.m_axi_rid_i = p.r.id;
      top_.m_axi_rresp_i = static_cast<std::uint8_t>(p.r.resp);
      top_.m_axi_rlast_i = p.r.last;
      put(top_.m_axi_rdata_i, p.r.data.data());
    }
    top_.m_axi_bvalid_i = p.b.valid;
    top_.m_axi_bid_i = p.b.id;
    top_.m_axi_bresp_i = static_cast<std::uint8_t>(p.b.resp);
  }

  void sample_memory(AxiMasterPins &p) const {
    p.ar.valid = top_.m_axi_arvalid_o;
    p.ar.id = top_.m_axi_arid_o;
    p.ar.addr = top_.m_axi_araddr_o;
    p.ar.len = top_.m_axi_arlen_o;
    p.ar.size = top_.m_axi_arsize_o;
    p.ar.burst = top_.m_axi_arburst_o;
    p.ar.wanted = wanted(top_.m_axi_aruser_o);
    p.aw.valid = top_.m_axi_awvalid_o;
    p.aw.id = top_.m_axi_awid_o;
    p.aw.addr = top_.m_axi_awaddr_o;
    p.aw.len = top_.m_axi_awlen_o;
    p.aw.size = top_.m_axi_awsize_o;
    p.aw.burst = top_.m_axi_awburst_o;
    p.aw.wanted = wanted(top_.m_axi_awuser_o);
    p.w.valid = top_.m_axi_wvalid_o;
    if (p.w.valid) {
      p.w.last = top_.m_axi_wlast_o;
      get(top_.m_axi_wdata_o, p.w.data);
      get(top_.m_axi_wstrb_o, p.w.strb);
    }
    p.rready = top_.m_axi_rready_o;
    p.bready = top_.m_axi_bready_o;
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
