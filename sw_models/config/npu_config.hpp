// An NPU: the one description that drives RTL parameters, compiler, models and testbench.
#pragma once

#include "base/key/fingerprint.hpp"
#include "sw_models/config/config_error.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace gradweave {

constexpr std::uint32_t kMaxPortBytes = 128; ///< of a beat: AxSIZE has no larger value (AXI4, A3.4.1)
constexpr std::uint32_t kMaxPorts = 16;

struct NpuConfig {
  std::string name;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t cores = 1;
  std::uint64_t spm_bytes = 0;
  std::uint32_t spm_banks = 1;
  std::uint32_t bus_bytes = 0;
  std::uint32_t port_bytes = 0; ///< bytes of a beat of an AXI4 port; the bus is cut into bus_bytes / port_bytes of them
  double clock_ghz = 1.0;
  std::uint32_t queue_depth = 8;
  std::uint32_t semaphores = 64;
  std::uint32_t outstanding = 64;
  std::uint32_t vector_groups = 0; ///< G of each core's vector unit, LANES x G lanes: 1, 2, 4 or 8; 0: there is none

  /// Picoseconds of a clock cycle: the nearest whole number, everywhere that clocks of several NPUs meet.
  std::uint64_t period_ps() const { return static_cast<std::uint64_t>(std::llround(1000.0 / clock_ghz)); }
  std::uint32_t ports() const { return bus_bytes / port_bytes; }
  std::uint32_t lanes() const { return rows > cols ? rows : cols; }
  /// Vector units: one for each core, or none.
  std::uint32_t vectors() const { return vector_groups == 0 ? 0 : cores; }
  /// Load, store, cores, vector units.
  std::uint32_t engines() const { return 2 + cores + vectors(); }
  /// Scratchpad rows per macro-bank: an even number, spm_bytes rounded down.
  std::uint32_t bank_rows() const {
    return static_cast<std::uint32_t>(spm_bytes / (2ULL * lanes()) / spm_banks / 2 * 2);
  }
  std::uint32_t spm_rows() const { return bank_rows() * spm_banks; }
};

class TomlSection;

/// Reads and checks table [npu] of a file, which load_machine() finds (machine.hpp). Throws ConfigError.
NpuConfig read_npu_config(TomlSection &section);

/// All parameters that results, cycles or streams depend on; not the name.
Fingerprint fingerprint(const NpuConfig &npu);

} // namespace gradweave
