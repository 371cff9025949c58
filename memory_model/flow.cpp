#include "memory_model/flow.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 4;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

} // namespace

IntervalFlow::IntervalFlow(std::uint32_t places, std::vector<Interval> intervals)
    : intervals_(std::move(intervals)), arcs_(places), distance_(places), nearer_(places), came_by_(places),
      seen_(places), next_arc_(places) {
  for (std::uint32_t place = 0; place + 1 < places; ++place)
    add_arc(place, place + 1, kUnlimited, 0);
  for (const Interval &interval : intervals_) {
    arc_of_.emplace_back(interval.from, static_cast<std::uint32_t>(arcs_[interval.from].size()));
    add_arc(interval.from, interval.to, interval.units, -interval.profit);
  }
}

void IntervalFlow::add_arc(std::uint32_t from, std::uint32_t to, std::uint64_t units, std::int64_t cost) {
  const auto here = static_cast<std::uint32_t>(arcs_[from].size()),
             there = static_cast<std::uint32_t>(arcs_[to].size());
  arcs_[from].push_back({to, there, units, cost});
  arcs_[to].push_back({from, here, 0, -cost});
}

/// Looks at arcs of a place that has come nearer since it was looked at, and notes which places do so by it.
void IntervalFlow::relax(std::uint32_t place, Stretch &before, Stretch &behind) {
  if (nearer_[place] == 0) return;
  nearer_[place] = 0;
  for (const Arc &arc : arcs_[place]) {
    const std::int64_t far = distance_[place] + arc.cost;
    if (arc.left == 0 || far >= distance_[arc.to]) continue;
    distance_[arc.to] = far;
    nearer_[arc.to] = 1;
    Stretch &noted = arc.to < place ? before : behind;
    noted.from = std::min(noted.from, arc.to);
    noted.to = std::max(noted.to, arc.to);
  }
}

/// Distances from the first place, which are what arcs of shortest paths differ by. Most arcs lead on and few go back,
/// so places are gone through onwards and back in turn until nothing changes: flows of the most profit have no cycle
/// that gets shorter and shorter. False if more room has no more profit.
bool IntervalFlow::find_distances() {
  std::fill(distance_.begin(), distance_.end(), kFar);
  distance_[0] = 0;
  nearer_[0] = 1;
  const auto places = static_cast<std::uint32_t>(arcs_.size());
  Stretch onwards{0, 0};
  while (onwards.from <= onwards.to) {
    Stretch back{places, 0};
    for (std::uint32_t place = onwards.from; place <= onwards.to; ++place)
      relax(place, back, onwards);
    onwards = {places, 0};
    for (std::uint32_t place = back.to + 1; place-- > back.from;)
      relax(place, back, onwards);
  }
  return distance_.back() < 0;
}

/// Depth first along arcs without cost, to the last place.
bool IntervalFlow::walk() {
  const auto last = static_cast<std::uint32_t>(arcs_.size() - 1);
  ++walks_;
  std::uint32_t place = 0;
  const auto enter = [&](std::uint32_t next) {
    seen_[next] = walks_;
    next_arc_[next] = 0;
    place = next;
  };
  enter(0);
  while (place != last) {
    if (next_arc_[place] == arcs_[place].size()) {
      if (place == 0) return false;
      place = came_by_[place].first;
      continue;
    }
    const std::uint32_t a = next_arc_[place]++;
    const Arc &arc = arcs_[place][a];
    if (arc.left == 0 || seen_[arc.to] == walks_ || arc.cost + distance_[place] != distance_[arc.to]) continue;
    came_by_[arc.to] = {place, a};
    enter(arc.to);
  }
  return true;
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
    if (!find_distances()) {
      room_ = room;
      return;
    }
    while (room_ < room && walk())
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
