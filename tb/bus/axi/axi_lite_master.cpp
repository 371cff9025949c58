#include "tb/bus/axi/axi_lite_master.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

namespace {

enum RegisterStalls : std::uint64_t { kRegisterAw = 11, kRegisterW, kRegisterB, kRegisterAr, kRegisterR };

} // namespace

AxiLiteMaster::AxiLiteMaster(const sc_core::sc_module_name &name, ClockReset &clock,
                             Registered<AxiLiteMasterPins> &master, const Registered<AxiLiteSlavePins> &slave,
                             const BusStress &stress)
    : sc_module(name), clock_(clock), master_(master), slave_(slave),
      stall_aw_(stress.seed, kRegisterAw, stress.stall_probability),
      stall_w_(stress.seed, kRegisterW, stress.stall_probability),
      stall_b_(stress.seed, kRegisterB, stress.stall_probability),
      stall_ar_(stress.seed, kRegisterAr, stress.stall_probability),
      stall_r_(stress.seed, kRegisterR, stress.stall_probability) {
  SC_METHOD(on_posedge);
  dont_initialize();
  sensitive << clock_.posedge();
}

std::uint32_t AxiLiteMaster::read(std::uint16_t offset) {
  offset_ = offset;
  run(State::kRead);
  need_okay("read");
  return data_;
}

void AxiLiteMaster::write(std::uint16_t offset, std::uint32_t value) {
  try_write(offset, value);
  need_okay("write");
}

AxiResp AxiLiteMaster::try_write(std::uint16_t offset, std::uint32_t value) {
  offset_ = offset;
  data_ = value;
  run(State::kWrite);
  return resp_;
}

void AxiLiteMaster::run(State what) {
  state_ = what;
  address_sent_ = data_sent_ = false;
  request_.notify(sc_core::SC_ZERO_TIME);
  clock_.run(kPatience);
  if (std::exchange(state_, State::kIdle) == State::kIdle) return;
  throw std::runtime_error(fmt::format("cycle {}: the NPU does not answer the {} of register {:#05x} within {} cycles",
                                       clock_.cycle(), what == State::kRead ? "read" : "write", offset_, kPatience));
}

void AxiLiteMaster::on_posedge() {
  if (std::exchange(asleep_, false)) return; // woken between two edges: wait for the next
  clock_.guard([this] {
    const AxiLiteMasterPins &m = master_.read();
    const AxiLiteSlavePins &s = slave_.read();
    check_stable(m, s);
    take(m, s);
    drive(m, master_.next());
    master_.commit();
    if (state_ == State::kIdle) { // no activity until the host asks for something
      asleep_ = true;
      next_trigger(request_);
    }
  });
}

void AxiLiteMaster::check_stable(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s) {
  const bool b_ok = !held_.bvalid || (s.bvalid && s.bresp == held_.bresp);
  const bool r_ok = !held_.rvalid || (s.rvalid && s.rresp == held_.rresp && s.rdata == held_.rdata);
  if (!b_ok || !r_ok)
    throw std::runtime_error(fmt::format("AXI4-Lite protocol violation in cycle {}, channel {}: VALID fell or payload "
                                         "changed before READY",
                                         clock_.cycle() - 1, b_ok ? "R" : "B"));
  held_ = s;
  held_.bvalid = s.bvalid && !m.bready;
  held_.rvalid = s.rvalid && !m.rready;
}

void AxiLiteMaster::take(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s) {
  address_sent_ |= (m.awvalid && s.awready) || (m.arvalid && s.arready);
  data_sent_ |= m.wvalid && s.wready;
  if (s.rvalid && m.rready) {
    data_ = s.rdata;
    finish(s.rresp);
  }
  if (s.bvalid && m.bready) finish(s.bresp);
}

void AxiLiteMaster::finish(AxiResp resp) {
  state_ = State::kIdle;
  resp_ = resp;
  clock_.stop();
}

void AxiLiteMaster::need_okay(const char *what) const {
  if (resp_ != AxiResp::kOkay)
    throw std::runtime_error(fmt::format("cycle {}: the NPU answers the {} of register {:#05x} with an error response",
                                         clock_.cycle(), what, offset_));
}

void AxiLiteMaster::drive(const AxiLiteMasterPins &now, AxiLiteMasterPins &next) {
  const bool writing = state_ == State::kWrite, reading = state_ == State::kRead;
  // A valid that is up and was not taken stays; otherwise stress may delay it.
  next.awvalid = writing && !address_sent_ && (now.awvalid || !stall_aw_());
  next.wvalid = writing && !data_sent_ && (now.wvalid || !stall_w_());
  next.arvalid = reading && !address_sent_ && (now.arvalid || !stall_ar_());
  next.bready = writing && !stall_b_();
  next.rready = reading && !stall_r_();
  next.awaddr = next.araddr = offset_;
  next.wdata = data_;
  next.wstrb = 0xf;
}

} // namespace gradweave::tb
