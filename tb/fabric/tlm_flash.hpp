// TLM-2.0 target over a device's flash.
#pragma once

#include "sw_models/memory/memory.hpp"
#include "sw_models/system/system_config.hpp"

#include <cstdint>
#include <set>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

namespace gradweave::tb {

/// Untimed, as TlmMemory is: Fabric says when a block has been read. Reads whole or partial blocks.
class TlmFlash : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<TlmFlash> socket{"socket"};

  TlmFlash(const sc_core::sc_module_name &name, std::uint64_t bytes) : sc_module(name), contents(bytes) {
    socket.register_b_transport(this, &TlmFlash::b_transport);
  }
  /// Reads of this block are answered with TLM_GENERIC_ERROR_RESPONSE.
  void fail(std::uint64_t block) { unreadable_.insert(block); }

  DeviceMemory contents;

private:
  void b_transport(tlm::tlm_generic_payload &request, sc_core::sc_time & /*delay*/) {
    const std::uint64_t addr = request.get_address();
    if (!request.is_read()) {
      request.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    } else if (!contents.contains(addr, request.get_data_length())) {
      request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else if (unreadable_.count(addr / kFlashBlock) > 0) {
      request.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else {
      contents.read(addr, request.get_data_ptr(), request.get_data_length());
      request.set_response_status(tlm::TLM_OK_RESPONSE);
    }
  }

  std::set<std::uint64_t> unreadable_;
};

} // namespace gradweave::tb
