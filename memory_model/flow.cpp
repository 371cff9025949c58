#include "memory_model/flow.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 4;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

} // namespace

IntervalFlow::IntervalFlow(std::uint32_t places, std::vector<Interval> intervals)
    : intervals_(std::move(intervals)), arcs_(places), potential_(places), distance_(places), came_by_(places) {
  for (std::uint32_t place = 0; place + 1 < places; ++place)
    add_arc(place, place + 1, kUnlimited, 0);
  for (const Interval &interval : intervals_) {
    arc_of_.emplace_back(interval.from, static_cast<std::uint32_t>(arcs_[interval.from].size()));
    add_arc(interval.from, interval.to, interval.units, -interval.profit);
  }
  first_potentials();
}

void IntervalFlow::add_arc(std::uint32_t from, std::uint32_t to, std::uint64_t units, std::int64_t cost) {
  const auto here = static_cast<std::uint32_t>(arcs_[from].size()),
             there = static_cast<std::uint32_t>(arcs_[to].size());
  arcs_[from].push_back({to, there, units, cost});
  arcs_[to].push_back({from, here, 0, -cost});
}

/// All arcs lead to later places at first.
void IntervalFlow::first_potentials() {
  std::fill(potential_.begin() + 1, potential_.end(), kFar);
  for (std::uint32_t place = 0; place < arcs_.size(); ++place)
    for (const Arc &arc : arcs_[place])
      if (arc.left > 0) potential_[arc.to] = std::min(potential_[arc.to], potential_[place] + arc.cost);
}

bool IntervalFlow::find_path() {
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::fill(distance_.begin(), distance_.end(), kFar);
  distance_[0] = 0;
  open.emplace(0, 0);
  const auto last = static_cast<std::uint32_t>(arcs_.size() - 1);
  while (!open.empty()) {
    const auto [distance, place] = open.top();
    open.pop();
    if (distance > distance_[place]) continue;
    if (place == last) break;
    for (std::uint32_t a = 0; a < arcs_[place].size(); ++a) {
      const Arc &arc = arcs_[place][a];
      if (arc.left == 0) continue;
      const std::int64_t far = distance + arc.cost + potential_[place] - potential_[arc.to];
      if (far >= distance_[arc.to]) continue;
      distance_[arc.to] = far;
      came_by_[arc.to] = {place, a};
      open.emplace(far, arc.to);
    }
  }
  for (std::uint32_t place = 0; place < arcs_.size(); ++place)
    potential_[place] += std::min(distance_[place], distance_[last]);
  return potential_[last] - potential_[0] < 0; // else more room has no more profit
}

std::uint64_t IntervalFlow::push(std::uint64_t most) {
  const auto last = static_cast<std::uint32_t>(arcs_.size() - 1);
  for (std::uint32_t place = last; place != 0; place = came_by_[place].first)
    most = std::min(most, arcs_[came_by_[place].first][came_by_[place].second].left);
  for (std::uint32_t place = last; place != 0; place = came_by_[place].first) {
    Arc &arc = arcs_[came_by_[place].first][came_by_[place].second];
    arc.left -= most;
    arcs_[place][arc.reverse].left += most;
  }
  return most;
}

void IntervalFlow::grow(std::uint64_t room) {
  while (room_ < room) {
    if (!find_path()) {
      room_ = room;
      return;
    }
    room_ += push(room - room_);
  }
}

std::vector<std::uint64_t> IntervalFlow::held() const {
  std::vector<std::uint64_t> units;
  for (std::size_t i = 0; i < intervals_.size(); ++i)
    units.push_back(intervals_[i].units - arcs_[arc_of_[i].first][arc_of_[i].second].left);
  return units;
}

} // namespace gradweave::memory_model
