#include "sw_models/dram_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave {

namespace {

DramTiming::Direction other(DramTiming::Direction d) {
  return d == DramTiming::Direction::kRead ? DramTiming::Direction::kWrite : DramTiming::Direction::kRead;
}

} // namespace

DramTiming::DramTiming(const DramConfig &config, std::uint32_t bus_bytes)
    : ticks_per_cycle_(config.bytes_num), ticks_per_beat_(bus_bytes * config.bytes_den),
      turnaround_ticks_(config.turnaround_cycles * config.bytes_num), latency_cycles_(config.latency_cycles),
      batch_bytes_(config.batch_bytes), bus_bytes_(bus_bytes) {
  if (ticks_per_cycle_ == 0 || ticks_per_beat_ == 0)
    throw std::invalid_argument(fmt::format("DRAM timing needs a bandwidth and a bus width above zero, not {}/{} bytes "
                                            "a cycle and {} bytes a beat",
                                            config.bytes_num, config.bytes_den, bus_bytes));
}

void DramTiming::push(Direction direction, std::uint64_t cycle, std::uint32_t beats, std::uint64_t id) {
  std::uint64_t &last = last_arrival_[static_cast<std::size_t>(direction)];
  if (beats == 0) throw std::logic_error("a DRAM burst has at least one beat");
  if (cycle < last || (known_until_ && cycle <= *known_until_))
    throw std::logic_error(fmt::format("DRAM burst {} arrives in cycle {}, but arrivals up to cycle {} were settled",
                                       id, cycle, known_until_ ? std::max(last, *known_until_) : last));
  last = cycle;
  queue(direction).push_back({cycle * ticks_per_cycle_, id, beats});
}

std::optional<std::uint64_t> DramTiming::next_choice_ticks() const {
  std::optional<std::uint64_t> first;
  for (const auto &q : queue_)
    if (!q.empty() && (!first || q.front().arrival_ticks < *first)) first = q.front().arrival_ticks;
  if (first) first = std::max(*first, free_ticks_);
  return first;
}

std::optional<std::uint64_t> DramTiming::next_choice_cycle() const {
  std::optional<std::uint64_t> ticks = next_choice_ticks();
  if (ticks) *ticks /= ticks_per_cycle_;
  return ticks;
}

bool DramTiming::arrived(Direction d, std::uint64_t ticks) const {
  const auto &q = queue_[static_cast<std::size_t>(d)];
  return !q.empty() && q.front().arrival_ticks <= ticks;
}

DramTiming::Direction DramTiming::choose(std::uint64_t ticks) const {
  if (!arrived(other(direction_), ticks)) return direction_;
  if (arrived(direction_, ticks) && batch_served_ < batch_bytes_) return direction_;
  return other(direction_);
}

std::optional<DramTiming::Grant> DramTiming::advance(std::uint64_t cycle) {
  known_until_ = known_until_ ? std::max(*known_until_, cycle) : cycle;
  const std::optional<std::uint64_t> now = next_choice_ticks();
  if (!now || *now / ticks_per_cycle_ > *known_until_) return std::nullopt;

  const Direction chosen = choose(*now);
  std::uint64_t start = *now;
  if (chosen != direction_) {
    if (served_any_) start = std::max(start, free_ticks_ + turnaround_ticks_);
    batch_served_ = 0;
  }
  const Request request = queue(chosen).front();
  queue(chosen).pop_front();
  batch_served_ = arrived(other(chosen), *now) ? batch_served_ + std::uint64_t{request.beats} * bus_bytes_ : 0;
  direction_ = chosen;
  served_any_ = true;
  free_ticks_ = start + request.beats * ticks_per_beat_;
  return Grant{chosen, request.id, request.beats, start, free_ticks_};
}

std::uint64_t DramTiming::read_beat_cycle(const Grant &grant, std::uint32_t beat) const {
  return cycle_after(grant.start_ticks + (std::uint64_t{beat} + 1) * ticks_per_beat_) + latency_cycles_;
}

std::uint64_t DramTiming::write_response_cycle(const Grant &grant) const {
  return cycle_after(grant.end_ticks) + latency_cycles_;
}

} // namespace gradweave
