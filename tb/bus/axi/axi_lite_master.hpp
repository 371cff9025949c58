// Drives the NPU's registers over AXI4-Lite.
#pragma once

#include "device/device.hpp"
#include "tb/bus/axi/axi_types.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/registered.hpp"
#include "tb/bus/stall.hpp"

#include <cstdint>
#include <systemc>

namespace gradweave::tb {

/// One access at a time. Called by the host between runs of the clock; each call simulates the cycles it takes.
/// A slave that does not answer within kPatience cycles, an error response, and a VALID that falls or a response
/// payload that changes before READY throw std::runtime_error.
class AxiLiteMaster : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(AxiLiteMaster);

  /// `stress` delays the valids and withholds BREADY and RREADY.
  AxiLiteMaster(const sc_core::sc_module_name &name, ClockReset &clock, Registered<AxiLiteMasterPins> &master,
                const Registered<AxiLiteSlavePins> &slave, const BusStress &stress);

  std::uint32_t read(std::uint16_t offset);
  void write(std::uint16_t offset, std::uint32_t value);
  /// The same, but gives the answer instead of throwing for an error response.
  AxiResp try_write(std::uint16_t offset, std::uint32_t value);

private:
  static constexpr std::uint64_t kPatience = 10000;
  enum class State { kIdle, kRead, kWrite };

  void on_posedge();
  void take(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s);
  void drive(const AxiLiteMasterPins &now, AxiLiteMasterPins &next);
  void check_stable(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s);
  void finish(AxiResp resp);
  void need_okay(const char *what) const;
  void run(State what);

  ClockReset &clock_;
  Registered<AxiLiteMasterPins> &master_;
  const Registered<AxiLiteSlavePins> &slave_;
  sc_core::sc_event request_;
  State state_ = State::kIdle;
  bool asleep_ = false;
  bool address_sent_ = false, data_sent_ = false;
  std::uint16_t offset_ = 0;
  std::uint32_t data_ = 0;
  AxiResp resp_ = AxiResp::kOkay; ///< of the last access
  AxiLiteSlavePins held_;         ///< its valid channels: driven last cycle and not taken
  Stall stall_aw_, stall_w_, stall_b_, stall_ar_, stall_r_;
};

} // namespace gradweave::tb
