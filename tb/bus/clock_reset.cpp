#include "tb/bus/clock_reset.hpp"

#include "tb/bus/kernel_scope.hpp"

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

ClockReset::ClockReset(const sc_core::sc_module_name &name, double clock_ghz)
    : sc_module(name), period_(1.0 / clock_ghz, sc_core::SC_NS) {
  SC_METHOD(tick);
}

void ClockReset::tick() {
  if (!elaborated_) { // the initial activation, at time zero, is no edge
    elaborated_ = true;
    next_trigger(period_);
    return;
  }
  if (halted_) return;
  next_trigger(period_);
  if (error_) return;
  ++cycle_;
  posedge_.notify();
  if (cycle_ == last_) stop();
}

void ClockReset::stop() {
  stopped_ = true;
  sc_core::sc_pause();
}

void ClockReset::run(std::uint64_t cycles) {
  if (cycles == 0) return;
  if (halted_) throw std::logic_error("a clock that was halted cannot run");
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
