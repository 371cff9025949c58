#include "isa/counters.hpp"

#include <fmt/format.h>

#include <cassert>

namespace gradweave::isa {

namespace {

/// What an index of the list stands for.
struct Place {
  Counter counter;
  std::uint32_t core;
};

Place place_of(std::size_t index) {
  if (index < kCounters.size()) return {static_cast<Counter>(index), 0};
  const std::size_t beyond = index - kCounters.size();
  return {kCoreCounters[beyond % kCoreCounters.size()], static_cast<std::uint32_t>(1 + beyond / kCoreCounters.size())};
}

const CounterInfo &info_of(Counter counter) { return kCounters[static_cast<std::size_t>(counter)]; }

} // namespace

std::size_t counter_count(std::uint32_t cores) { return kCounters.size() + (cores - 1) * kCoreCounters.size(); }

std::size_t counter_index(Counter counter, std::uint32_t core) {
  if (core == 0) return static_cast<std::size_t>(counter);
  std::size_t place = 0;
  while (place < kCoreCounters.size() && kCoreCounters[place] != counter)
    ++place;
  assert(place < kCoreCounters.size());
  return kCounters.size() + (core - 1) * kCoreCounters.size() + place;
}

std::uint16_t counter_csr(std::size_t index) { return static_cast<std::uint16_t>(kCounterBase + 8 * index); }

std::string counter_name(std::size_t index) {
  const Place p = place_of(index);
  return p.core == 0 ? std::string(info_of(p.counter).name) : fmt::format("{}_CORE{}", info_of(p.counter).name, p.core);
}

std::string counter_group(std::size_t index) {
  const Place p = place_of(index);
  const std::string_view group = info_of(p.counter).group;
  return p.core == 0 || group.empty() ? std::string(group) : fmt::format("{}{}", group, p.core);
}

} // namespace gradweave::isa
