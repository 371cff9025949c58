#include "tb/bus/clock_reset.hpp"

#include "tb/bus/kernel_scope.hpp"

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

ClockReset::ClockReset(const sc_core::sc_module_name &name, std::uint64_t period_ps)
    : sc_module(name), period_ps_(period_ps), period_(static_cast<double>(period_ps), sc_core::SC_PS) {
  SC_METHOD(tick);
  sensitive << resume_;
}

void ClockReset::tick() {
  if (!elaborated_) { // the initial activation, at time zero, is no edge
    elaborated_ = true;
    next_trigger(period_);
    return;
  }
  if (halted_ || gated_) return; // then resume_ calls again
  const sc_core::sc_time &now = sc_core::sc_time_stamp();
  if (now < next_) { // resumed before the timer of an edge that was gated had run out
    next_trigger(next_ - now);
    return;
  }
  next_ = now + period_;
  next_trigger(period_);
  if (error_) return;
  ++cycle_;
  posedge_.notify();
  if (cycle_ == last_) stop();
}

void ClockReset::stop() {
  stopped_ = true;
  if (!apart_) sc_core::sc_pause();
}

void ClockReset::resume(const sc_core::sc_time &first) {
  gated_ = false;
  next_ = first;
  resume_.notify(first - sc_core::sc_time_stamp()); // no effect while a timer runs, which tick() then sets anew
}

void ClockReset::run(std::uint64_t cycles) {
  if (cycles == 0) return;
  if (halted_ || gated_) throw std::logic_error("a clock that was halted or gated cannot run");
  const KernelScope kernel(simcontext());
  last_ = cycle_ + cycles;
  stopped_ = false;
  while (!stopped_ && !error_) // another clock can end sc_start(), too
    sc_core::sc_start();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ClockReset::reset(unsigned cycles) {
  const auto drive = [this](bool value) {
    reset_n_.next() = value;
    reset_n_.commit();
  };
  drive(false);
  run(cycles);
  drive(true);
  run(1);
}

} // namespace gradweave::tb
