// Constrained-random legal command streams whose result does not depend on timing.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

struct RandomStreamOptions {
  std::uint64_t seed = 1;
  std::uint32_t commands = 40;             ///< LOAD, STORE and GEMM before the final stores; SYNCs come on top
  std::uint64_t dram_base = 0;             ///< where the data starts in device memory; a multiple of 4096
  std::uint64_t max_gemm_macs = 1U << 20U; ///< multiply-adds of one GEMM at most
};

struct RandomStream {
  std::vector<isa::Command> commands;
  std::uint64_t dram_base = 0;
  /// Initial DRAM contents from dram_base on; the commands touch nothing outside. Compare all of it afterwards.
  std::vector<std::uint8_t> dram_image;
};

/// A stream for this NPU; the same for the same seed and options everywhere.
///
/// It mixes LOAD, STORE and GEMM on tiles of all sizes: single rows, columns and elements, partial and many panels and
/// blocks, rotated tiles, parts of tiles, tiles across macro-banks, unaligned DRAM rows, rows across 4 KB, both
/// walks of A and B, accumulation in place and elsewhere, fp32 and bf16 results that later GEMMs use. All it reads was
/// written before, and elements of a type are only read as that type, so NaNs do not swamp the results. Waits and posts
/// order every conflict (semaphores.hpp). At the end all live tiles are stored to places of their own.
RandomStream make_random_stream(const NpuConfig &config, const RandomStreamOptions &options);

} // namespace gradweave::corpus
