#include "tb/board.hpp"

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

void Board::power_off() {
  clock.halt();
  npu.close_trace();
}

} // namespace gradweave::tb
