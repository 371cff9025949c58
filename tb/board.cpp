#include "tb/board.hpp"

#include <exception>
#include <utility>

namespace gradweave::tb {

Board::Board(const sc_core::sc_module_name &name, const Machine &config, const DeviceOptions &options,
             std::unique_ptr<NpuModel> npu_model)
    : sc_module(name), model_(std::move(npu_model)), memory(config.memory.size_bytes),
      clock("clock", config.period_ps()),
      npu("npu", clock, *model_, csr_request_, csr_answer_, bus_answer_, bus_request_, options.trace),
      csr("csr", clock, csr_request_, csr_answer_, options.stress),
      bus("bus", clock, bus_request_, bus_answer_, config.memory, config.bus_bytes, config.port_bytes, options),
      control(clock, npu, csr, bus, config.memory.longest_pause()), tlm_memory_("memory", memory) {
  bus.socket.bind(tlm_memory_.socket);
}

void Board::set_apart(bool apart) {
  clock.set_apart(apart);
  csr_request_.set_apart(apart);
  csr_answer_.set_apart(apart);
  bus_request_.set_apart(apart);
  bus_answer_.set_apart(apart);
}

/// What a module commits the others see at the next edge, so their order is free, but that an access which the NPU's
/// interrupt begins starts with the next edge, too.
void Board::edge() {
  clock.count_edge();
  csr.edge();
  npu.on_posedge();
  bus.on_posedge();
  csr_request_.settle();
  csr_answer_.settle();
  bus_request_.settle();
  bus_answer_.settle();
}

void Board::edges(std::uint64_t most) {
  for (std::uint64_t i = 0; i < most && control.running(); ++i) {
    edge();
    if (clock.failed()) std::rethrow_exception(clock.take_error());
  }
}

void Board::power_off() {
  clock.halt();
  npu.close_trace();
}

} // namespace gradweave::tb
