// TLM-2.0 target over the device memory.
#pragma once

#include "sw_models/memory/memory.hpp"

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

namespace gradweave::tb {

/// Untimed: timing belongs to the initiator (AxiMemory). Grants one direct memory range, the whole memory. An access
/// that leaves the memory is answered with TLM_ADDRESS_ERROR_RESPONSE.
class TlmMemory : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<TlmMemory> socket{"socket"};

  TlmMemory(const sc_core::sc_module_name &name, DeviceMemory &memory);
  /// For tests of the transport path: refuses direct memory requests.
  void refuse_direct_access() { direct_ = false; }

private:
  void b_transport(tlm::tlm_generic_payload &request, sc_core::sc_time &delay);
  unsigned transport_dbg(tlm::tlm_generic_payload &request);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload &request, tlm::tlm_dmi &range);

  DeviceMemory &memory_;
  bool direct_ = true;
};

} // namespace gradweave::tb
