#include "tb/bus/axi/axi_lite_master.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
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

std::uint32_t AxiLiteMaster::read(std::uint16_t offset) { return run({RegisterAccess::Kind::kRead, offset, 0}); }

void AxiLiteMaster::write(std::uint16_t offset, std::uint32_t value) {
  run({RegisterAccess::Kind::kWrite, offset, value});
}

AxiResp AxiLiteMaster::try_write(std::uint16_t offset, std::uint32_t value) {
  run({RegisterAccess::Kind::kWrite, offset, value, true});
  return resp_;
}

std::uint32_t AxiLiteMaster::run(const RegisterAccess &access) {
  while (state_ != State::kIdle) // one that follows a run's end
    clock_.run(1);
  std::optional<std::uint32_t> read;
  begin(access, [&](std::uint32_t data) {
    read = data;
    clock_.stop();
  });
  try {
    while (!read)
      clock_.run(kPatience);
  } catch (...) {
    state_ = State::kIdle;
    throw;
  }
  return *read;
}

void AxiLiteMaster::when_idle(std::function<void()> call) {
  if (state_ == State::kIdle)
    call();
  else
    waiting_ = std::move(call);
}

void AxiLiteMaster::begin(const RegisterAccess &access, Done done) {
  if (state_ != State::kIdle) throw std::logic_error("an access of a register begins before another is over");
  constexpr std::array<State, 3> kStates{State::kRead, State::kWrite, State::kWait};
  state_ = kStates[static_cast<std::size_t>(access.kind)];
  offset_ = access.offset;
  data_ = access.value;
  refusable_ = access.refusable;
  done_ = std::move(done);
  cycles_ = 0;
  address_sent_ = data_sent_ = false;
  if (!clock_.apart()) request_.notify(sc_core::SC_ZERO_TIME);
}

void AxiLiteMaster::on_posedge() {
  if (std::exchange(asleep_, false)) return; // woken between two edges: wait for the next
  clock_.guard([this] {
    cycle();
    if (asleep_) next_trigger(request_);
  });
}

void AxiLiteMaster::edge() {
  if (asleep_ && state_ == State::kIdle) return;
  clock_.guard([this] { cycle(); });
}

void AxiLiteMaster::cycle() {
  const AxiLiteMasterPins &m = master_.read();
  const AxiLiteSlavePins &s = slave_.read();
  check_stable(m, s);
  take(m, s);
  check_patience();
  drive(m, master_.next());
  master_.commit();
  asleep_ = state_ == State::kIdle; // no activity until the host asks for something
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
    finish("read", s.rresp);
  }
  if (s.bvalid && m.bready) finish("write", s.bresp);
  if (state_ == State::kWait && cycles_ == data_) finish("wait", AxiResp::kOkay);
}

void AxiLiteMaster::check_patience() {
  if (state_ == State::kIdle || cycles_++ < kPatience || state_ == State::kWait) return;
  const bool reading = std::exchange(state_, State::kIdle) == State::kRead;
  throw std::runtime_error(fmt::format("cycle {}: the NPU does not answer the {} of register {:#05x} within {} cycles",
                                       clock_.cycle(), reading ? "read" : "write", offset_, kPatience));
}

void AxiLiteMaster::finish(const char *what, AxiResp resp) {
  state_ = State::kIdle;
  resp_ = resp;
  if (resp != AxiResp::kOkay && !refusable_)
    throw std::runtime_error(fmt::format("cycle {}: the NPU answers the {} of register {:#05x} with an error response",
                                         clock_.cycle(), what, offset_));
  std::exchange(done_, {})(data_);
  if (state_ == State::kIdle && waiting_) std::exchange(waiting_, {})();
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
