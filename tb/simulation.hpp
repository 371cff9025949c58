// One simulation in SystemC: a time line, and the boards on it.
#pragma once

#include "tb/board.hpp"

#include <memory>
#include <systemc>
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
  /// Once, before any clock is run: a waveform can be opened only then.
  void elaborate();

private:
  std::unique_ptr<sc_core::sc_simcontext> context_;
  std::vector<std::unique_ptr<Board>> boards_;
  bool elaborated_ = false;
};

} // namespace gradweave::tb
