// An NPU with its memory, and the files that describe them.
#pragma once

#include "sw_models/config/config_error.hpp"
#include "sw_models/config/energy_config.hpp"
#include "sw_models/config/memory_config.hpp"
#include "sw_models/config/npu_config.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave {

/// An NPU and the memory that it works from: what a stream is compiled for and what its cycles depend on. What asks for
/// an NpuConfig alone does not depend on the memory; the RTL is such.
struct Machine : NpuConfig {
  MemoryConfig memory;
  EnergyConfig energy = {};

  /// pJ that a byte of the scratchpad takes to be read and to be written, by its size unless the file says it.
  double spm_read_pj_per_byte() const { return energy.spm_read_pj_per_byte.value_or(spm_pj_per_byte(spm_bytes)); }
  double spm_write_pj_per_byte() const { return energy.spm_write_pj_per_byte.value_or(spm_pj_per_byte(spm_bytes)); }
};

/// A field that is to have another value than its file says, as `--set npu.rows=64` asks.
struct Override {
  std::string table, key; ///< npu, rows
  std::string value;      ///< in TOML
  std::string source;     ///< what messages about it begin with
};
using Overrides = std::vector<Override>;

/// Reads and checks a file with the tables [npu] and [memory], and [energy] if it likes (TOML, see configs/small.toml).
/// Instead of a table may stand the path of another file that has it, seen from the first one's directory: with npu =
/// "small.toml", machines share an NPU, and its RTL, and differ in their memories. Values of `overrides` are checked as
/// the file's; an NPU that has such is called NAME+KEY=VALUE, since it is another one. Throws ConfigError naming file,
/// line, key, value and remedy.
Machine load_machine(const std::filesystem::path &file, const Overrides &overrides = {});

/// The machine that `text` describes, as load_machine() reads it; `file` stands for it in messages and paths. Throws
/// ConfigError.
Machine parse_machine(std::string_view text, const std::string &file, const Overrides &overrides = {});

/// The NPU of such a file, which need not describe a memory.
NpuConfig load_npu_config(const std::filesystem::path &file);

/// All parameters that results, cycles or streams depend on; neither the name nor the energies.
Fingerprint fingerprint(const Machine &machine);

} // namespace gradweave
