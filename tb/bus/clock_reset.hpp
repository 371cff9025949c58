// Clock and reset of the testbench, and the door through which the host runs the simulation.
#pragma once

#include "tb/bus/registered.hpp"

#include <cstdint>
#include <exception>
#include <systemc>

namespace gradweave::tb {

/// One event per rising edge, instead of an sc_clock with two edges: nothing here works on the falling one. Modules are
/// sensitive to posedge(). Cycle n is the time from edge n to edge n + 1: what a module reads at edge n was driven in
/// cycle n - 1, what it commits is driven in cycle n.
class ClockReset : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(ClockReset);
  /// `clock_ghz` above zero; the period is rounded to picoseconds.
  ClockReset(const sc_core::sc_module_name &name, double clock_ghz);

  const sc_core::sc_event &posedge() const { return posedge_; }
  /// Cycle that begins with the current edge, from 1; 0 before the first.
  std::uint64_t cycle() const { return cycle_; }
  /// False while reset is held.
  bool reset_n() const { return reset_n_.read(); }
  sc_core::sc_time period() const { return period_; }

  /// Host: simulates up to `cycles` edges, fewer if stop() is called. Rethrows what a process of this clock failed
  /// with. Other clocks of the simulation go on meanwhile; what their processes fail with is for their run().
  void run(std::uint64_t cycles);
  /// Host: holds reset for `cycles` edges and releases it.
  void reset(unsigned cycles = 4);
  /// Host: there are no further edges; run() throws std::logic_error.
  void halt() { halted_ = true; }
  /// Process: ends run() after the current cycle.
  void stop();
  /// Process: calls `body`; an exception ends run(), which rethrows it unchanged (SystemC would turn it into a report).
  /// There is no edge before that.
  template <class F> void guard(F &&body) {
    try {
      body();
    } catch (...) {
      error_ = std::current_exception();
      stop();
    }
  }

private:
  void tick();

  sc_core::sc_time period_;
  sc_core::sc_event posedge_;
  Registered<bool> reset_n_{"reset_n"};
  bool elaborated_ = false, halted_ = false, stopped_ = false;
  std::uint64_t cycle_ = 0;
  std::uint64_t last_ = 0; ///< run() ends with this cycle
  std::exception_ptr error_;
};

} // namespace gradweave::tb
