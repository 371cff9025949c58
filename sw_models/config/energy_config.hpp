// What an NPU's accesses and operations cost in energy. docs/energy.md has the sources once more, what other memories
// and processes cost, and what the numbers are good for.
//
// Sources
//   [H14] M. Horowitz, "Computing's energy problem (and what we can do about it)", ISSCC 2014: 45 nm, 0.9 V. fp16
//         multiplication 1.1 pJ, fp32 addition 0.9 pJ; 64 bits of a memory of 8 KB 10 pJ, 32 KB 20 pJ, 1 MB 100 pJ; 64
//         bits of DRAM 1.3 to 2.6 nJ.
//   [D08] P. Kogge (ed.), "ExaScale Computing Study", DARPA IPTO, 2008: wires on a chip 18 to 110 fJ per bit and mm.
#pragma once

#include "base/key/fingerprint.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gradweave {

class TomlSection;

/// Table [energy]; every field may be left out.
struct EnergyConfig {
  /// A multiply-add of the array: bf16 multiplication and fp32 accumulation. [H14]: 1.1 + 0.9, with the multiplication
  /// of fp16, whose significand is three bits longer, for want of one of bf16.
  double mac_pj = 2.0;
  /// A step of a PE whose lane is beyond a partial block. It computes -0 x +0 + c, so that nothing switches but the
  /// clock.
  double idle_mac_pj = 0;
  double add_pj = 0.9; ///< an fp32 addition of an ADD [H14]
  /// Empty: by the scratchpad's size, spm_pj_per_byte().
  std::optional<double> spm_read_pj_per_byte, spm_write_pj_per_byte;
  /// Between memory and scratchpad: the upper value of [D08] over 5 mm, a length that is assumed.
  double bus_pj_per_byte = 4.4;
  double dram_pj_per_byte = 162.5; ///< the lower value of [H14], as rows are read in long bursts
  double static_mw = 0;            ///< of leakage, clock and all that is not counted; 0: left out
};

/// pJ per byte of an access to a memory of `bytes` (at least 1) bytes. At 8 KB, 32 KB and 1 MB the values of [H14];
/// between them interpolated, and beyond them extrapolated, along straight lines of log(energy) over log(size). [H14]
/// does not tell reads from writes.
double spm_pj_per_byte(std::uint64_t bytes);

/// A key of table [energy].
struct EnergyKey {
  std::string_view name, help;
  double EnergyConfig::*field = nullptr;
  std::optional<double> EnergyConfig::*optional_field = nullptr; ///< one of both
};
const std::vector<EnergyKey> &energy_keys();

/// Reads and checks table [energy] of a file, which load_machine() finds (machine.hpp). Throws ConfigError.
EnergyConfig read_energy_config(TomlSection &section);

/// All that energies depend on.
Fingerprint fingerprint(const EnergyConfig &energy);

} // namespace gradweave
