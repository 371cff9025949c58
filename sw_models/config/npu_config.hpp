// NPU and DRAM configuration: the one description that drives RTL parameters, compiler, models and testbench.
#pragma once

#include "sw_models/config/config_error.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace gradweave {

struct DramConfig {
  std::uint64_t size_bytes = 0;
  double bandwidth_gb_s = 0;           ///< reads and writes together, 10^9 bytes per second
  std::uint32_t latency_cycles = 0;    ///< start of a burst's service to its first beat
  std::uint32_t turnaround_cycles = 0; ///< lost when the direction changes
  std::uint32_t batch_bytes = 0;       ///< served in one direction before the other gets its turn
  /// DRAM time is paid for whole, aligned accesses of so many bytes: a power of two, at most the bus's beat. 0 stands
  /// for the beat; load_npu_config() fills it in.
  std::uint32_t access_bytes = 0;
  /// Bandwidth in bytes per NPU cycle as the exact fraction bytes_num / bytes_den (22 GB/s at 1 GHz: 22/1;
  /// 150 GB/s at 1.05 GHz: 1000/7). Filled in by load_npu_config().
  std::uint64_t bytes_num = 0;
  std::uint64_t bytes_den = 1;
};

struct NpuConfig {
  std::string name;
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  std::uint32_t cores = 1;
  std::uint64_t spm_bytes = 0;
  std::uint32_t spm_banks = 1;
  std::uint32_t bus_bytes = 0;
  double clock_ghz = 1.0;
  std::uint32_t queue_depth = 8;
  std::uint32_t semaphores = 64;
  std::uint32_t outstanding = 64;
  DramConfig dram;

  std::uint32_t lanes() const { return rows > cols ? rows : cols; }
  /// Scratchpad rows per macro-bank: an even number, spm_bytes rounded down.
  std::uint32_t bank_rows() const {
    return static_cast<std::uint32_t>(spm_bytes / (2ULL * lanes()) / spm_banks / 2 * 2);
  }
  std::uint32_t spm_rows() const { return bank_rows() * spm_banks; }
};

/// Reads and checks a configuration file (TOML, see configs/small.toml).
/// Throws ConfigError naming file, line, key, value and remedy.
NpuConfig load_npu_config(const std::filesystem::path &file);

/// The configuration that `text` describes, as load_npu_config() reads it; `file` stands for it in messages. Throws
/// ConfigError.
NpuConfig parse_npu_config(std::string_view text, const std::string &file);

} // namespace gradweave
