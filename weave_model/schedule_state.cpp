#include "weave_model/schedule_state.hpp"

#include <algorithm>

namespace gradweave::weave_model {
namespace {

/// Released layers that are kept before the list is cut.
constexpr std::size_t kMostReleased = 1024;

} // namespace

/// Figure 9. Idle time is added up and not the difference of times, so that it is 0 where nothing waits: layers without
/// any are ties.
Effect ScheduleState::effect_of(const Layer &layer) const {
  Effect effect;
  effect.fetch_begin = fetched_;
  const std::uint64_t room = std::min(npu_.buffer - occupied_, layer.bytes);
  double now = fetched_ + npu_.fetch_seconds(room);
  std::uint64_t left = layer.bytes - room;
  for (std::size_t i = first_; left > 0; ++i) {
    const Resident &resident = resident_.at(i);
    const std::uint64_t part = std::min(left, resident.bytes);
    if (resident.completion > now) {
      effect.memory_idle += resident.completion - now;
      now = resident.completion;
    }
    now += npu_.fetch_seconds(part);
    left -= part;
  }
  effect.fetched = now;
  effect.compute_begin = std::max(computed_, now);
  effect.compute_idle = effect.compute_begin - computed_;
  effect.computed = effect.compute_begin + layer.seconds;
  return effect;
}

void ScheduleState::append(const Layer &layer, const Effect &effect) {
  fetched_ = effect.fetched;
  computed_ = effect.computed;
  resident_.push_back({layer.bytes, effect.computed});
  occupied_ += layer.bytes;
  release();
}

void ScheduleState::wait_until(double seconds) {
  fetched_ = std::max(fetched_, seconds);
  release();
}

/// Layers that completed by the end of the last fetch are in the buffer no more.
void ScheduleState::release() {
  while (first_ < resident_.size() && resident_[first_].completion <= fetched_)
    occupied_ -= resident_[first_++].bytes;
  if (first_ < kMostReleased || 2 * first_ < resident_.size()) return;
  resident_.erase(resident_.begin(), resident_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

} // namespace gradweave::weave_model
