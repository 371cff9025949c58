// The NPU that any commands are executed and timed on, and what its two models have to agree on.
#pragma once

#include "isa/command.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gradweave::fuzz {

constexpr std::uint64_t kMemory = 16384, kStreamAt = 4096; ///< bytes of memory; where commands lie in it
constexpr std::size_t kMaxCommands = 64;
constexpr std::size_t kMarks = 16; ///< that the log holds

/// Small enough that a stream takes little time, whatever it says.
inline Machine small_npu() {
  Machine npu;
  npu.name = "fuzz";
  npu.rows = 3;
  npu.cols = 5;
  npu.cores = 2;
  npu.spm_bytes = std::uint64_t{64} * 2 * 5;
  npu.spm_banks = 2;
  npu.bus_bytes = 8;
  npu.clock_ghz = 1;
  npu.queue_depth = 4;
  npu.semaphores = 16;
  npu.outstanding = 4;
  npu.memory.size_bytes = kMemory;
  npu.memory.bandwidth_gb_s = 5;
  npu.memory.bytes_num = 5;
  npu.memory.bytes_den = 1;
  npu.memory.latency_cycles = 7;
  npu.memory.turnaround_cycles = 3;
  npu.memory.batch_bytes = 64;
  npu.memory.access_bytes = 8;
  return npu;
}

inline isa::Limits limits_of(const Machine &npu) {
  isa::Limits limits;
  limits.lanes = npu.lanes();
  limits.spm_rows = npu.spm_rows();
  limits.cores = npu.cores;
  limits.semaphores = npu.semaphores;
  limits.dram_size = kMemory;
  return limits;
}

inline std::vector<isa::Command> commands_of(const std::uint8_t *data, std::size_t size) {
  std::vector<isa::Command> stream(std::min(size / isa::kCommandBytes, kMaxCommands));
  if (!stream.empty()) std::memcpy(stream.data(), data, stream.size() * sizeof(isa::Command));
  return stream;
}

/// A STORE may write into [kStreamAt, kStreamAt + bytes): the timing model, which has no data, would not know.
inline bool overwrites_itself(const std::vector<isa::Command> &stream, std::uint64_t bytes, const isa::Limits &limits) {
  return std::any_of(stream.begin(), stream.end(), [&](const isa::Command &command) {
    if (isa::check_command(command, limits) != isa::ErrorCode::NONE) return false;
    const isa::Decoded decoded = *isa::decode(command);
    const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
    if (dma == nullptr || !dma->store) return false;
    const std::uint64_t end =
        dma->dram_addr + std::uint64_t{dma->rows - 1U} * dma->pitch + std::uint64_t{dma->cols} * (dma->fp32 ? 4 : 2);
    return dma->dram_addr < kStreamAt + bytes && end > kStreamAt;
  });
}

/// Errors that depend on when commands run, which the functional model does not know.
inline bool depends_on_time(isa::ErrorCode error) {
  return error == isa::ErrorCode::WATCHDOG || error == isa::ErrorCode::SEM_OVERFLOW;
}

inline void compare(const FunctionalNpu &npu, const timing::RunResult &timed, std::uint32_t cores) {
  const auto &status = npu.status();
  if (depends_on_time(status.error) || depends_on_time(timed.error)) return;
  require(status.error == timed.error, "functional and timing model stop with different errors");
  if (status.error != isa::ErrorCode::NONE) {
    require(status.error_index == timed.error_index, "functional and timing model stop at different commands");
    return;
  }
  using isa::Counter;
  for (const Counter c : {Counter::READ_BYTES, Counter::WRITE_BYTES, Counter::READ_BEATS, Counter::WRITE_BEATS})
    require(npu.counter(c) == timed.counter(c), "functional and timing model count different bytes or beats");
  for (std::uint32_t core = 0; core < cores; ++core)
    require(npu.counter(Counter::BLOCKS, core) == timed.counter(Counter::BLOCKS, core), "different blocks");
}

} // namespace gradweave::fuzz
