// Moves the data of a device's transfers: from its memory over its link, and between its flash and its memory.
#pragma once

#include "tb/fabric/tlm_flash.hpp"
#include "tb/fabric/tlm_link.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <utility>
#include <vector>

namespace gradweave::tb {

/// A transfer that cannot go on; what() says what is at fault and where.
class TransferError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// TLM-2.0 initiator. Fabric says when a part of a transfer is read and when it is written; what it carries is here
/// between the two.
class LinkEngine : public sc_core::sc_module {
public:
  tlm_utils::simple_initiator_socket<LinkEngine> memory{"memory"};
  tlm_utils::simple_initiator_socket<LinkEngine> link{"link"};
  /// Of a device with flash.
  std::unique_ptr<tlm_utils::simple_initiator_socket<LinkEngine>> flash;

  LinkEngine(const sc_core::sc_module_name &name, bool has_flash);

  /// Takes a part of transfer `id`, `bytes` at `addr` of memory or flash. `offset` tells parts of a transfer apart.
  /// These throw TransferError.
  void read_memory(std::uint32_t id, std::uint64_t offset, std::uint64_t addr, std::uint32_t bytes);
  void read_flash(std::uint32_t id, std::uint64_t offset, std::uint64_t addr, std::uint32_t bytes);
  /// Puts it into the memory of another device, or of its own, or into flash.
  void send(std::uint32_t id, std::uint64_t offset, std::uint32_t device, std::uint64_t addr);
  void write_memory(std::uint32_t id, std::uint64_t offset, std::uint64_t addr);
  void write_flash(std::uint32_t id, std::uint64_t offset, std::uint64_t addr);
  /// Forgets parts that were read and not written.
  void clear() { parts_.clear(); }

private:
  using Part = std::pair<std::uint32_t, std::uint64_t>;
  std::vector<std::uint8_t> take(const Part &part);

  std::map<Part, std::vector<std::uint8_t>> parts_;
};

} // namespace gradweave::tb
