#include "sw_models/timing/timing_model.hpp"

#include "sw_models/timing/npu_timing.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::timing {

namespace {

/// Longest silence within the reading of a block: both operands wait for initial values.
std::uint64_t silence_in_block(const NpuConfig &npu) { return npu.rows + 4ULL; }

void check_ring(const RingOptions &ring, std::size_t commands) {
  std::uint64_t cycle = 0;
  for (std::size_t i = 0; i < ring.host.size(); ++i) {
    const HostWrite &write = ring.host[i];
    if (write.cycle < cycle)
      throw std::invalid_argument(
          fmt::format("ring.host[{}].cycle = {}: the write before is in cycle {}; sort them", i, write.cycle, cycle));
    cycle = write.cycle;
    if (write.kind == HostWrite::Kind::kTail && write.tail > commands)
      throw std::invalid_argument(
          fmt::format("ring.host[{}].tail = {}: the stream has {} commands", i, write.tail, commands));
  }
  if (ring.places != 0 && ring.first_tail > commands)
    throw std::invalid_argument(
        fmt::format("ring.first_tail = {}: the stream has {} commands", ring.first_tail, commands));
}

} // namespace

RunResult run(const Machine &npu, const isa::Command *stream, std::size_t count, const RunOptions &options) {
  const std::uint32_t watchdog = options.watchdog.value_or(usual_watchdog(npu));
  const bool short_watchdog = watchdog != 0 && watchdog <= longest_silence(npu);
  if (watchdog != 0 && watchdog < silence_in_block(npu))
    throw std::invalid_argument(fmt::format("watchdog = {} cycles: the timing model does not follow silences within a "
                                            "block, which last up to {} cycles; use a longer watchdog",
                                            watchdog, silence_in_block(npu)));
  check_ring(options.ring, count);
  ProgressLog progress(short_watchdog);
  RunResult result = NpuTiming(npu, stream, count, options, kNever, progress).run();
  std::uint64_t last = result.cycles() - 1;
  bool again = !result.ok() && result.error != isa::ErrorCode::WATCHDOG;
  if (short_watchdog)
    if (const std::uint64_t expiry = progress.expiry(watchdog, last); expiry != kNever) {
      last = expiry;
      again = true;
    }
  if (!again) return result;
  // The engines were played ahead of the error. Now that its cycle is known, count up to it.
  ProgressLog nothing(false);
  return NpuTiming(npu, stream, count, options, last, nothing).run();
}

} // namespace gradweave::timing
