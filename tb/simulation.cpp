#include "tb/simulation.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::tb {

Simulation::Simulation() {
  const KernelScope kernel(sc_core::sc_get_curr_simcontext());
  context_ = std::make_unique<sc_core::sc_simcontext>();
}

Simulation::~Simulation() {
  const KernelScope kernel(context_.get());
  for (const auto &board : boards_)
    board->power_off();
  if (elaborated_ && sc_core::sc_pending_activity())
    sc_core::sc_start(); // the clocks' last timers run out; the context would leave them behind
  modules_.clear();
  boards_.clear();
  context_.reset();
}

Board &Simulation::add(const Machine &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model) {
  check_open();
  const KernelScope kernel(context_.get());
  const std::string name = fmt::format("npu{}", boards_.size());
  boards_.push_back(std::make_unique<Board>(name.c_str(), config, options, std::move(model)));
  return *boards_.back();
}

void Simulation::check_open() const {
  if (elaborated_) throw std::logic_error("a simulation takes no board or module after its elaboration");
}

void Simulation::elaborate() {
  const KernelScope kernel(context_.get());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  elaborated_ = true;
}

void Simulation::part() {
  const KernelScope kernel(context_.get());
  Board &board = *boards_.front();
  parted_ = sc_core::sc_time_stamp();
  board.clock.gate();
  sc_core::sc_start(board.clock.period()); // the clock's timer runs out
  board.set_apart(true);
}

void Simulation::rejoin(std::uint64_t cycles) {
  const KernelScope kernel(context_.get());
  Board &board = *boards_.front();
  board.set_apart(false);
  board.clock.resume(parted_ + board.clock.period() * static_cast<double>(cycles + 1));
}

} // namespace gradweave::tb
