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

/// Untimed, as TlmMemory is: Fabric says when a block has been read or written. Whole or partial blocks.
class TlmFlash : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<TlmFlash> socket{"socket"};

  TlmFlash(const sc_core::sc_module_name &name, std::uint64_t bytes) : sc_module(name), contents(bytes) {
    socket.register_b_transport(this, &TlmFlash::b_transport);
  }
  /// What is asked of this block is answered with TLM_GENERIC_ERROR_RESPONSE.
  void fail(std::uint64_t block) { broken_.insert(block); }
  /// Writes of this block are answered, and forgotten.
  void keep(std::uint64_t block) { stale_.insert(block); }

  DeviceMemory contents;

private:
  void b_transport(tlm::tlm_generic_payload &request, sc_core::sc_time & /*delay*/) {
    const std::uint64_t addr = request.get_address();
    if (!contents.contains(addr, request.get_data_length())) {
      request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else if (broken_.count(addr / kFlashBlock) > 0) {
      request.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    } else {
      if (request.is_read())
        contents.read(addr, request.get_data_ptr(), request.get_data_length());
      else if (stale_.count(addr / kFlashBlock) == 0)
        contents.write(addr, request.get_data_ptr(), request.get_data_length());
      request.set_response_status(tlm::TLM_OK_RESPONSE);
    }
  }

  std::set<std::uint64_t> broken_, stale_;
};

} // namespace gradweave::tb
