#include "sw_models/dram_timing.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave {

DramTiming::DramTiming(const DramConfig &config, std::uint32_t bus_bytes)
    : ticks_per_cycle_(config.bytes_num), turnaround_cycles_(config.turnaround_cycles),
      latency_cycles_(config.latency_cycles), batch_bytes_(config.batch_bytes), bus_bytes_(bus_bytes) {
  const std::uint64_t ticks_per_beat = bus_bytes * config.bytes_den;
  if (ticks_per_cycle_ == 0 || ticks_per_beat == 0)
    throw std::invalid_argument(fmt::format("DRAM timing needs a bandwidth and a bus width above zero, not {}/{} bytes "
                                            "a cycle and {} bytes a beat",
                                            config.bytes_num, config.bytes_den, bus_bytes));
  for (std::uint64_t beats = 0; beats <= kMaxBeats; ++beats)
    service_.push_back({beats * ticks_per_beat / ticks_per_cycle_, beats * ticks_per_beat % ticks_per_cycle_});
}

void DramTiming::refuse(Direction direction, std::uint64_t cycle, std::uint32_t beats) const {
  if (beats == 0 || beats > kMaxBeats)
    throw std::logic_error(fmt::format("a DRAM burst has 1 to {} beats, not {}", kMaxBeats, beats));
  const std::uint64_t last = last_arrival_[static_cast<std::size_t>(direction)];
  throw std::logic_error(fmt::format("a DRAM burst arrives in cycle {}, but arrivals before cycle {} were settled",
                                     cycle, std::max(last, known_until_)));
}

} // namespace gradweave
