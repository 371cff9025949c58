#include "tb/clock_reset.hpp"

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
  ++cycle_;
  posedge_.notify();
  next_trigger(period_);
  if (cycle_ >= last_) sc_core::sc_pause();
}

void ClockReset::stop() { sc_core::sc_pause(); }

void ClockReset::run(std::uint64_t cycles) {
  if (cycles == 0) return;
  last_ = cycle_ + cycles;
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
