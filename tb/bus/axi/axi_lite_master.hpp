// Drives the NPU's registers over AXI4-Lite.
#pragma once

#include "device/device.hpp"
#include "tb/bus/axi/axi_types.hpp"
#include "tb/bus/clock_reset.hpp"
#include "tb/bus/registered.hpp"
#include "tb/bus/stall.hpp"

#include <cstdint>
#include <functional>
#include <systemc>

namespace gradweave::tb {

/// An access of a register, or a while without one.
struct RegisterAccess {
  enum class Kind : std::uint8_t { kRead, kWrite, kWait };
  Kind kind = Kind::kRead;
  std::uint16_t offset = 0;
  std::uint32_t value = 0; ///< to be written, or cycles of a wait, at least 1
  bool refusable = false;  ///< an error response is an answer
};

/// One access at a time. A slave that does not answer within kPatience cycles, an error response, and a VALID that
/// falls or a response payload that changes before READY are std::runtime_errors out of the clock's run().
class AxiLiteMaster : public sc_core::sc_module {
public:
  SC_HAS_PROCESS(AxiLiteMaster);

  /// `stress` delays the valids and withholds BREADY and RREADY.
  AxiLiteMaster(const sc_core::sc_module_name &name, ClockReset &clock, Registered<AxiLiteMasterPins> &master,
                const Registered<AxiLiteSlavePins> &slave, const BusStress &stress);

  /// Host, between runs of the clock: simulates the cycles that the access takes.
  std::uint32_t read(std::uint16_t offset);
  void write(std::uint16_t offset, std::uint32_t value);
  /// The same, but gives the answer instead of throwing for an error response.
  AxiResp try_write(std::uint16_t offset, std::uint32_t value);

  /// A rising edge of the clock that is apart from the kernel (Board::edge()).
  void edge();

  /// Called in the cycle in which an access is over, with what was read; may begin another, which follows at once.
  using Done = std::function<void(std::uint32_t)>;
  /// Begins an access, from the next edge on, while none is under way.
  void begin(const RegisterAccess &access, Done done);
  /// Calls it as soon as no access is under way, which may be at once. One at a time.
  void when_idle(std::function<void()> call);

private:
  static constexpr std::uint64_t kPatience = 10000;
  enum class State { kIdle, kRead, kWrite, kWait };

  void on_posedge();
  void cycle();
  void take(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s);
  void drive(const AxiLiteMasterPins &now, AxiLiteMasterPins &next);
  void check_stable(const AxiLiteMasterPins &m, const AxiLiteSlavePins &s);
  void finish(const char *what, AxiResp resp);
  void check_patience();
  std::uint32_t run(const RegisterAccess &access);

  ClockReset &clock_;
  Registered<AxiLiteMasterPins> &master_;
  const Registered<AxiLiteSlavePins> &slave_;
  sc_core::sc_event request_;
  State state_ = State::kIdle;
  Done done_;
  std::function<void()> waiting_; ///< of when_idle()
  std::uint64_t cycles_ = 0;      ///< since the access began
  bool asleep_ = false;
  bool refusable_ = false; ///< the access under way
  bool address_sent_ = false, data_sent_ = false;
  std::uint16_t offset_ = 0;
  std::uint32_t data_ = 0;
  AxiResp resp_ = AxiResp::kOkay; ///< of the last access
  AxiLiteSlavePins held_;         ///< its valid channels: driven last cycle and not taken
  Stall stall_aw_, stall_w_, stall_b_, stall_ar_, stall_r_;
};

} // namespace gradweave::tb
