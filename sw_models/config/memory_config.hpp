// The memory that an NPU works from.
#pragma once

#include "base/key/fingerprint.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gradweave {

struct NpuConfig;
class TomlSection;

/// DRAM behind an NPU.
struct MemoryConfig {
  std::uint64_t size_bytes = 0;
  double bandwidth_gb_s = 0;           ///< reads and writes together, 10^9 bytes per second
  std::uint32_t latency_cycles = 0;    ///< start of a burst's service to its first beat
  std::uint32_t turnaround_cycles = 0; ///< lost when the direction changes
  std::uint32_t batch_bytes = 0;       ///< served in one direction before the other gets its turn
  /// The DRAM refreshes for so long (tRFC), 0: never; which falls due every so many (tREFI). HBM2 at 1 GHz: 260 of
  /// 3,900; LPDDR4 of 8 Gbit: 280 of 3,904.
  std::uint32_t refresh_cycles = 0, refresh_interval_cycles = 0;
  /// Time is paid for whole, aligned accesses of so many bytes: a power of two, at most the bus's beat. 0 stands
  /// for the beat; read_memory_config() fills it in.
  std::uint32_t access_bytes = 0;
  /// Bandwidth in bytes per NPU cycle as the exact fraction bytes_num / bytes_den (22 GB/s at 1 GHz: 22/1;
  /// 150 GB/s at 1.05 GHz: 1000/7). Filled in by read_memory_config().
  std::uint64_t bytes_num = 0;
  std::uint64_t bytes_den = 1;

  /// A channel that was idle for as long has forgotten what it did before; no burst waits longer for what is not
  /// served.
  std::uint64_t longest_pause() const { return std::max(turnaround_cycles, refresh_cycles); }
};

/// A key of table [memory] that is a whole number, whatever the NPU.
struct MemoryKey {
  std::string_view name;
  std::uint32_t MemoryConfig::*field;
  std::uint32_t least, most;
  std::uint32_t usual; ///< for messages, and meant by a file without the key if it is `optional`
  bool optional = false;
};
const std::vector<MemoryKey> &memory_keys();

/// Reads and checks table [memory] of a file, which load_machine() finds (machine.hpp), as `npu` sees the memory, by
/// its clock and its bus. Throws ConfigError.
MemoryConfig read_memory_config(TomlSection &section, const NpuConfig &npu);

/// All parameters that cycles or streams depend on.
Fingerprint fingerprint(const MemoryConfig &memory);

} // namespace gradweave
