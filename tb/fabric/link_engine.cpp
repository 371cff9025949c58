#include "tb/fabric/link_engine.hpp"

#include <fmt/format.h>

namespace gradweave::tb {

namespace {

template <class Socket>
tlm::tlm_response_status transport(Socket &socket, tlm::tlm_command command, std::uint64_t addr,
                                   std::vector<std::uint8_t> &data) {
  tlm::tlm_generic_payload payload;
  const auto bytes = static_cast<unsigned>(data.size());
  payload.set_command(command);
  payload.set_address(addr);
  payload.set_data_ptr(data.data());
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  return payload.get_response_status();
}

void require(tlm::tlm_response_status status, const std::string &problem) {
  if (status != tlm::TLM_OK_RESPONSE) throw TransferError(problem);
}

} // namespace

LinkEngine::LinkEngine(const sc_core::sc_module_name &name, bool has_flash) : sc_module(name) {
  if (has_flash) flash = std::make_unique<tlm_utils::simple_initiator_socket<LinkEngine>>("flash");
}

void LinkEngine::read_memory(std::uint32_t id, std::uint64_t offset, std::uint64_t addr, std::uint32_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  require(transport(memory, tlm::TLM_READ_COMMAND, addr, data),
          fmt::format("its memory does not give {} bytes at {:#x}", bytes, addr));
  parts_.emplace(Part{id, offset}, std::move(data));
}

void LinkEngine::read_flash(std::uint32_t id, std::uint64_t offset, std::uint64_t addr, std::uint32_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  require(transport(*flash, tlm::TLM_READ_COMMAND, addr, data),
          fmt::format("block {} of its flash is unreadable", addr / kFlashBlock));
  parts_.emplace(Part{id, offset}, std::move(data));
}

void LinkEngine::send(std::uint32_t id, std::uint64_t offset, std::uint32_t device, std::uint64_t addr) {
  std::vector<std::uint8_t> data = take({id, offset});
  require(transport(link, tlm::TLM_WRITE_COMMAND, std::uint64_t{device} << kDeviceShift | addr, data),
          fmt::format("the packet with bytes {} to {} arrives over its link with a wrong CRC", offset,
                      offset + data.size() - 1));
}

void LinkEngine::write_memory(std::uint32_t id, std::uint64_t offset, std::uint64_t addr) {
  std::vector<std::uint8_t> data = take({id, offset});
  require(transport(memory, tlm::TLM_WRITE_COMMAND, addr, data),
          fmt::format("its memory does not take {} bytes at {:#x}", data.size(), addr));
}

void LinkEngine::write_flash(std::uint32_t id, std::uint64_t offset, std::uint64_t addr) {
  std::vector<std::uint8_t> data = take({id, offset});
  require(transport(*flash, tlm::TLM_WRITE_COMMAND, addr, data),
          fmt::format("block {} of its flash cannot be written", addr / kFlashBlock));
}

std::vector<std::uint8_t> LinkEngine::take(const Part &part) {
  const auto found = parts_.find(part);
  if (found == parts_.end()) throw std::logic_error("a part of a transfer is written that was not read");
  std::vector<std::uint8_t> data = std::move(found->second);
  parts_.erase(found);
  return data;
}

} // namespace gradweave::tb
