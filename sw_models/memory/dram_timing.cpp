#include "sw_models/memory/dram_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave {

DramChannel::DramChannel(const MemoryConfig &config, std::uint32_t bus_bytes) : memory_(config) {
  if (memory_.access_bytes == 0) memory_.access_bytes = bus_bytes;
  const std::uint64_t ticks_per_cycle = memory_.bytes_num, ticks_per_access = memory_.access_bytes * memory_.bytes_den;
  if (ticks_per_cycle == 0 || ticks_per_access == 0)
    throw std::invalid_argument(fmt::format("DRAM timing needs a bandwidth and a bus width above zero, not {}/{} bytes "
                                            "a cycle and {} bytes a beat",
                                            config.bytes_num, config.bytes_den, bus_bytes));
  service_.resize(std::max(kMaxBeats, kMaxBurstBytes / memory_.access_bytes) + 1);
  service_[1] = {ticks_per_access / ticks_per_cycle, ticks_per_access % ticks_per_cycle};
  for (std::size_t accesses = 2; accesses < service_.size(); ++accesses)
    service_[accesses] = after(service_[accesses - 1], 1);
}

void DramTiming::push(Direction direction, std::uint64_t cycle, std::uint32_t accesses, std::uint32_t id) {
  const auto d = static_cast<std::size_t>(direction);
  if (accesses == 0 || accesses > channel_.max_accesses())
    throw std::logic_error(fmt::format("a DRAM burst has 1 to {} accesses, not {}", channel_.max_accesses(), accesses));
  if (cycle < last_arrival_[d] || cycle < known_until_)
    throw std::logic_error(fmt::format("a DRAM burst arrives in cycle {}, but arrivals before cycle {} were settled",
                                       cycle, std::max(last_arrival_[d], known_until_)));
  last_arrival_[d] = cycle;
  queue_[d].push_back({cycle, id, accesses});
}

std::optional<DramTiming::Grant> DramTiming::advance(std::uint64_t cycle) {
  known_until_ = std::max(known_until_, cycle + 1);
  const DramChannel::Waiting waiting = first();
  if (channel_.next_choice(waiting).cycle >= known_until_) return std::nullopt;
  const DramChannel::Choice choice = channel_.choose(waiting);
  std::deque<Request> &queue = queue_[static_cast<std::size_t>(choice.direction)];
  const Request request = queue.front();
  queue.pop_front();
  const DramChannel::Service service = channel_.serve(choice, waiting, request.accesses);
  return Grant{choice.direction, request.id, request.accesses, service.start, service.end};
}

} // namespace gradweave
