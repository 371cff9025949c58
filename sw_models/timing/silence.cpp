#include "sw_models/timing/silence.hpp"

#include "sw_models/memory/dram_channel.hpp"

#include <algorithm>
#include <limits>

namespace gradweave::timing {

std::uint64_t longest_silence(const Machine &npu) {
  const std::uint64_t bytes =
      std::min<std::uint64_t>(DramChannel::kMaxBurstBytes, std::uint64_t{DramChannel::kMaxBeats} * npu.bus_bytes);
  const std::uint64_t burst = bytes * npu.memory.bytes_den / npu.memory.bytes_num + 1;
  return npu.memory.latency_cycles + npu.memory.longest_pause() + 2 * burst + 4ULL * (npu.rows + npu.cols) + 64;
}

std::uint32_t usual_watchdog(const Machine &npu) {
  constexpr std::uint64_t kAfterReset = 65536, kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(std::max(kAfterReset, longest_silence(npu) + 1), kMost));
}

} // namespace gradweave::timing
