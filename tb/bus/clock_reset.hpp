// Clock and reset of the testbench, and the door through which the host runs the simulation.
#pragma once

#include "tb/bus/registered.hpp"

#include <cstdint>
#include <exception>
#include <systemc>
#include <utility>

namespace gradweave::tb {

/// One event per rising edge, instead of an sc_clock with two edges: nothing here works on the falling one. Modules are
/// sensitive to posedge(). Cycle n is the time from edge n to edge n + 1: what a module reads at edge n was driven in
/// cycle n - 1, what it commits is driven in cycle n.
class ClockReset : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(ClockReset);
  ClockReset(const sc_core::sc_module_name &name, std::uint64_t period_ps);

  const sc_core::sc_event &posedge() const { return posedge_; }
  /// Cycle that begins with the current edge, from 1; 0 before the first.
  std::uint64_t cycle() const { return cycle_; }
  /// False while reset is held.
  bool reset_n() const { return reset_n_.read(); }
  sc_core::sc_time period() const { return period_; }
  std::uint64_t period_ps() const { return period_ps_; }

  /// Host: simulates up to `cycles` edges, fewer if stop() is called. Rethrows what a process of this clock failed
  /// with. Other clocks of the simulation go on meanwhile; what their processes fail with is for their run().
  void run(std::uint64_t cycles);
  /// Host: holds reset for `cycles` edges and releases it.
  void reset(unsigned cycles = 4);
  /// Host: there are no further edges; run() throws std::logic_error.
  void halt() { halted_ = true; }
  /// There are no edges from now on until resume(): a clock that is gated costs nothing. run() throws std::logic_error
  /// meanwhile.
  void gate() { gated_ = true; }
  /// While gated: edges are counted by count_edge(), not by the kernel, which none of this clock's processes may call.
  void set_apart(bool apart) { apart_ = apart; }
  bool apart() const { return apart_; }
  void count_edge() { ++cycle_; }
  /// Edges again: the first at `first`, later than now, the others a period behind each other.
  void resume(const sc_core::sc_time &first);
  /// What a process of this clock failed with outside run(); null if nothing did.
  std::exception_ptr take_error() { return std::exchange(error_, nullptr); }
  /// A process of this clock failed, and nobody took its error.
  bool failed() const { return error_ != nullptr; }
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

  std::uint64_t period_ps_;
  sc_core::sc_time period_;
  sc_core::sc_event posedge_;
  Registered<bool> reset_n_{"reset_n"};
  sc_core::sc_event resume_;
  sc_core::sc_time next_; ///< of the next edge
  bool elaborated_ = false, halted_ = false, gated_ = false, stopped_ = false, apart_ = false;
  std::uint64_t cycle_ = 0;
  std::uint64_t last_ = 0; ///< run() ends with this cycle
  std::exception_ptr error_;
};

} // namespace gradweave::tb
