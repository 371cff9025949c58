// AXI4 and AXI4-Lite as plain structs: what one side drives in one cycle.
#pragma once

#include "sw_models/config/npu_config.hpp"
#include "sw_models/memory/dram_channel.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace gradweave::tb {

/// A port of those that a memory bus is cut into: of each beat of the bus it has the bytes from index * bytes on, and
/// its addresses count these alone (rtl/bus/gw_port_split.sv).
struct PortPlace {
  unsigned bytes = 0; ///< of a beat of the port, a power of two
  unsigned index = 0, ports = 1;

  unsigned bus_bytes() const { return bytes * ports; }
  /// Where a byte of the port is on the bus.
  std::uint64_t bus_address(std::uint64_t addr) const { return (addr / bytes * ports + index) * bytes + addr % bytes; }
};

enum class AxiResp : std::uint8_t { kOkay = 0, kSlvErr = 2, kDecErr = 3 };
constexpr std::uint8_t kAxiBurstIncr = 1;
constexpr std::uint64_t kAxiBoundary = 4096; ///< no burst crosses a multiple of it

/// AR or AW.
struct AxiAddress {
  bool valid = false;
  std::uint8_t id = 0;
  std::uint64_t addr = 0;
  std::uint8_t len = 0;  ///< beats - 1
  std::uint8_t size = 0; ///< log2 of the bytes of a beat
  std::uint8_t burst = kAxiBurstIncr;
  BurstBytes wanted; ///< beside AXI, in AxUSER: a hint for the memory's timing; bytes of the bus, on each port the same

  unsigned beats() const { return len + 1U; }
};

struct AxiWriteData {
  bool valid = false;
  bool last = false;
  std::array<std::uint8_t, kMaxPortBytes> data{};
  std::array<std::uint8_t, kMaxPortBytes / 8> strb{}; ///< bit i % 8 of byte i / 8: data[i] is written
};

struct AxiReadData {
  bool valid = false;
  std::uint8_t id = 0;
  AxiResp resp = AxiResp::kOkay;
  bool last = false;
  std::array<std::uint8_t, kMaxPortBytes> data{};
};

struct AxiWriteResponse {
  bool valid = false;
  std::uint8_t id = 0;
  AxiResp resp = AxiResp::kOkay;
};

/// All that an AXI4 master drives.
struct AxiMasterPins {
  AxiAddress ar, aw;
  AxiWriteData w;
  bool rready = false, bready = false;
};

/// All that an AXI4 slave drives.
struct AxiSlavePins {
  bool arready = false, awready = false, wready = false;
  AxiReadData r;
  AxiWriteResponse b;
};

/// Of all ports, in their order; the bus says how many there are.
using AxiMasterPorts = std::array<AxiMasterPins, kMaxPorts>;
using AxiSlavePorts = std::array<AxiSlavePins, kMaxPorts>;

/// All that an AXI4-Lite master drives.
struct AxiLiteMasterPins {
  bool awvalid = false, wvalid = false, bready = false, arvalid = false, rready = false;
  std::uint16_t awaddr = 0, araddr = 0;
  std::uint32_t wdata = 0;
  std::uint8_t wstrb = 0;
};

/// All that an AXI4-Lite slave drives.
struct AxiLiteSlavePins {
  bool awready = false, wready = false, bvalid = false, arready = false, rvalid = false;
  AxiResp bresp = AxiResp::kOkay, rresp = AxiResp::kOkay;
  std::uint32_t rdata = 0;
};

} // namespace gradweave::tb
