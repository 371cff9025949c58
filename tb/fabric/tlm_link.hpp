// What packets pass on their way: a direction of a link, and the switch.
#pragma once

#include <cstdint>
#include <set>
#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

namespace gradweave::tb {

/// Bits of an address on a link that are the address at the device; those above are the device's number.
constexpr unsigned kDeviceShift = 48;

/// One direction of a link. Untimed, as TlmMemory is: Fabric says when a packet is where.
class TlmLink : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<TlmLink> in{"in"};
  tlm_utils::simple_initiator_socket<TlmLink> out{"out"};

  explicit TlmLink(const sc_core::sc_module_name &name) : sc_module(name) {
    in.register_b_transport(this, &TlmLink::b_transport);
  }
  /// The packet of this number, from 0, arrives with a wrong CRC: TLM_GENERIC_ERROR_RESPONSE.
  void fail(std::uint64_t packet) { faulty_.insert(packet); }

private:
  void b_transport(tlm::tlm_generic_payload &packet, sc_core::sc_time &delay) {
    if (faulty_.count(packets_++) > 0)
      packet.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    else
      out->b_transport(packet, delay);
  }

  std::set<std::uint64_t> faulty_;
  std::uint64_t packets_ = 0;
};

/// Sends a packet to the link of the device in its address: outputs are bound in the order of devices.
class TlmSwitch : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_target_socket<TlmSwitch> in{"in"};
  tlm_utils::multi_passthrough_initiator_socket<TlmSwitch> out{"out"};

  explicit TlmSwitch(const sc_core::sc_module_name &name) : sc_module(name) {
    in.register_b_transport(this, &TlmSwitch::b_transport);
  }

private:
  void b_transport(int /*from*/, tlm::tlm_generic_payload &packet, sc_core::sc_time &delay) {
    const std::uint64_t addr = packet.get_address();
    const auto device = static_cast<unsigned>(addr >> kDeviceShift);
    if (device >= static_cast<unsigned>(out.size())) {
      packet.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    packet.set_address(addr & ((std::uint64_t{1} << kDeviceShift) - 1));
    out[static_cast<int>(device)]->b_transport(packet, delay);
  }
};

} // namespace gradweave::tb
