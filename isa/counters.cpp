#include "isa/counters.hpp"

#include <fmt/format.h>

#include <cassert>

namespace gradweave::isa {

namespace {

/// What an index of the list stands for.
struct Place {
  Counter counter;
  std::uint32_t unit;
};

/// Those of all cores.
std::size_t core_counters(std::uint32_t cores) { return kCounters.size() + (cores - 1) * kCoreCounters.size(); }

Place place_of(std::size_t index, std::uint32_t cores) {
  if (index < kCounters.size()) return {static_cast<Counter>(index), 0};
  if (const std::size_t first = core_counters(cores); index >= first) {
    const std::size_t beyond = index - first;
    return {static_cast<Counter>(kCounters.size() + beyond % kVectorCounters.size()),
            static_cast<std::uint32_t>(beyond / kVectorCounters.size())};
  }
  const std::size_t beyond = index - kCounters.size();
  return {kCoreCounters[beyond % kCoreCounters.size()], static_cast<std::uint32_t>(1 + beyond / kCoreCounters.size())};
}

const CounterInfo &info_of(Counter counter) {
  const auto number = static_cast<std::size_t>(counter);
  return number < kCounters.size() ? kCounters[number] : kVectorCounters[number - kCounters.size()];
}

} // namespace

std::size_t counter_count(std::uint32_t cores, std::uint32_t vectors) {
  return core_counters(cores) + vectors * kVectorCounters.size();
}

std::size_t counter_index(Counter counter, std::uint32_t unit, std::uint32_t cores) {
  const auto number = static_cast<std::size_t>(counter);
  if (number >= kCounters.size())
    return core_counters(cores) + unit * kVectorCounters.size() + number - kCounters.size();
  if (unit == 0) return number;
  std::size_t place = 0;
  while (place < kCoreCounters.size() && kCoreCounters[place] != counter)
    ++place;
  assert(place < kCoreCounters.size());
  return kCounters.size() + (unit - 1) * kCoreCounters.size() + place;
}

std::uint16_t counter_csr(std::size_t index) { return static_cast<std::uint16_t>(kCounterBase + 8 * index); }

std::string counter_name(std::size_t index, std::uint32_t cores) {
  const Place p = place_of(index, cores);
  return p.unit == 0 ? std::string(info_of(p.counter).name) : fmt::format("{}_CORE{}", info_of(p.counter).name, p.unit);
}

std::string counter_group(std::size_t index, std::uint32_t cores) {
  const Place p = place_of(index, cores);
  const std::string_view group = info_of(p.counter).group;
  return p.unit == 0 || group.empty() ? std::string(group) : fmt::format("{}{}", group, p.unit);
}

} // namespace gradweave::isa
