// One simulation in SystemC: a time line, and the boards on it.
#pragma once

#include "tb/board.hpp"
#include "tb/bus/kernel_scope.hpp"

#include <cstdint>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

namespace gradweave::tb {

/// Has a context of SystemC's kernel to itself, so that a process can have any number of simulations, made, run and
/// destroyed in any order; each stands still while another runs. Boards are added before the simulation is elaborated,
/// and live until its end: SystemC does not take modules out of a simulation.
class Simulation {
public:
  Simulation();
  ~Simulation();
  Simulation(const Simulation &) = delete;
  Simulation &operator=(const Simulation &) = delete;

  /// As Board's constructor; throws std::logic_error after elaborate().
  Board &add(const Machine &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model);
  /// Another module, made by `make` in this simulation; it may refer to boards. As add() after elaborate().
  template <class Make> auto &add_module(const Make &make) {
    check_open();
    const KernelScope kernel(context_.get());
    auto module = make();
    auto &reference = *module;
    modules_.push_back(std::move(module));
    return reference;
  }
  /// What SystemC is to work on to run this simulation (KernelScope).
  sc_core::sc_simcontext *context() { return context_.get(); }
  /// Once, before any clock is run: a waveform can be opened only then.
  void elaborate();

  // A board that is alone here depends on nothing else while a stream runs on it, so it may go ahead of the simulated
  // time, without the kernel and its turns (temporal decoupling, as TLM-2.0 has it), and time follows.

  /// There is one board and no other module.
  bool lone() const { return boards_.size() == 1 && modules_.empty(); }
  /// The lone board is apart (Board::set_apart()) from here on. No access of a register is under way.
  void part();
  /// It is no longer; the simulated time goes on to where the `cycles` that it had meanwhile, at least two, end.
  void rejoin(std::uint64_t cycles);

private:
  void check_open() const;

  std::unique_ptr<sc_core::sc_simcontext> context_;
  std::vector<std::unique_ptr<Board>> boards_;
  std::vector<std::unique_ptr<sc_core::sc_module>> modules_;
  bool elaborated_ = false;
  sc_core::sc_time parted_; ///< when the lone board went apart
};

} // namespace gradweave::tb
