#include "tb/bus/tlm_memory.hpp"

#include <algorithm>
#include <cstring>

namespace gradweave::tb {

TlmMemory::TlmMemory(const sc_core::sc_module_name &name, DeviceMemory &memory) : sc_module(name), memory_(memory) {
  socket.register_b_transport(this, &TlmMemory::b_transport);
  socket.register_transport_dbg(this, &TlmMemory::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &TlmMemory::get_direct_mem_ptr);
}

void TlmMemory::b_transport(tlm::tlm_generic_payload &request, sc_core::sc_time &) {
  const std::uint64_t addr = request.get_address();
  const unsigned length = request.get_data_length();
  if (!memory_.contains(addr, length)) {
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (request.get_streaming_width() < length) {
    request.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  std::uint8_t *memory = memory_.data() + addr;
  unsigned char *data = request.get_data_ptr();
  const unsigned char *enables = request.get_byte_enable_ptr();
  const unsigned enable_length = request.get_byte_enable_length();
  for (unsigned i = 0; i < length; ++i) {
    if (enables && enables[i % enable_length] != TLM_BYTE_ENABLED) continue;
    if (request.is_read()) data[i] = memory[i];
    if (request.is_write()) memory[i] = data[i];
  }
  request.set_dmi_allowed(direct_);
  request.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned TlmMemory::transport_dbg(tlm::tlm_generic_payload &request) {
  const std::uint64_t addr = request.get_address();
  if (!memory_.contains(addr, 0)) return 0;
  const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(request.get_data_length(), memory_.size() - addr));
  if (request.is_read()) std::memcpy(request.get_data_ptr(), memory_.data() + addr, bytes);
  if (request.is_write()) std::memcpy(memory_.data() + addr, request.get_data_ptr(), bytes);
  return bytes;
}

bool TlmMemory::get_direct_mem_ptr(tlm::tlm_generic_payload &, tlm::tlm_dmi &range) {
  if (!direct_) return false;
  range.allow_read_write();
  range.set_start_address(0);
  range.set_end_address(memory_.size() - 1);
  range.set_dmi_ptr(memory_.data());
  return true;
}

} // namespace gradweave::tb
