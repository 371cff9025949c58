#include "memory_model/flow.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 4;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;
/// Places that may be left in vain in search of one more way.
constexpr std::size_t kPatience = 64;

} // namespace

IntervalFlow::IntervalFlow(std::uint32_t places, std::vector<Interval> intervals)
    : intervals_(std::move(intervals)), first_(places + 1), distance_(places), nearer_(places), seen_(places),
      next_arc_(places) {
  for (std::uint32_t place = 0; place + 1 < places; ++place) {
    ++first_[place + 1];
    ++first_[place + 2];
  }
  for (const Interval &interval : intervals_) {
    ++first_[interval.from + 1];
    ++first_[interval.to + 1];
  }
  for (std::uint32_t place = 0; place < places; ++place)
    first_[place + 1] += first_[place];
  arcs_.resize(first_[places]);
  reverse_.resize(first_[places]);
  std::vector<std::uint32_t> free(first_.begin(), first_.end() - 1);
  const auto add_arc = [&](std::uint32_t from, std::uint32_t to, std::uint64_t units, std::int64_t cost) {
    const std::uint32_t here = free[from]++, there = free[to]++;
    arcs_[here] = {units, cost, to};
    arcs_[there] = {0, -cost, from};
    reverse_[here] = there;
    reverse_[there] = here;
    return here;
  };
  for (std::uint32_t place = 0; place + 1 < places; ++place)
    add_arc(place, place + 1, kUnlimited, 0);
  for (const Interval &interval : intervals_)
    arc_of_.push_back(add_arc(interval.from, interval.to, interval.units, -interval.profit));
}

/// Looks at arcs of a place that has come nearer since it was looked at, and notes which places do so by it.
void IntervalFlow::relax(std::uint32_t place, Stretch &before, Stretch &behind) {
  if (nearer_[place] == 0) return;
  nearer_[place] = 0;
  std::int64_t *const distance = distance_.data();
  const std::int64_t here = distance[place];
  const Arc *const end = arcs_.data() + first_[place + 1];
  for (const Arc *arc = arcs_.data() + first_[place]; arc != end; ++arc) {
    const std::int64_t far = here + arc->cost;
    if (far >= distance[arc->to] || arc->left == 0) continue;
    distance[arc->to] = far;
    nearer_[arc->to] = 1;
    Stretch &noted = arc->to < place ? before : behind;
    noted.from = std::min(noted.from, arc->to);
    noted.to = std::max(noted.to, arc->to);
  }
}

/// Distances from the first place, which are what arcs of shortest paths differ by. Most arcs lead on and few go back,
/// so places are gone through onwards and back in turn until nothing changes: flows of the most profit have no cycle
/// that gets shorter and shorter. False if more room has no more profit.
bool IntervalFlow::find_distances() {
  std::fill(distance_.begin(), distance_.end(), kFar);
  distance_[0] = 0;
  nearer_[0] = 1;
  const auto places = static_cast<std::uint32_t>(distance_.size());
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

void IntervalFlow::begin_walks() {
  ++search_;
  entered_.clear();
  way_.clear();
  enter(0);
}

void IntervalFlow::enter(std::uint32_t place) {
  seen_[place] = search_;
  next_arc_[place] = first_[place];
  entered_.push_back(place);
}

/// Depth first along arcs without cost, to the last place; false if it gives up, which it does after so many places.
bool IntervalFlow::walk(std::size_t most) {
  const auto last = static_cast<std::uint32_t>(distance_.size() - 1);
  std::uint32_t at = way_.empty() ? 0 : arcs_[way_.back().arc].to;
  while (at != last) {
    std::uint32_t a = next_arc_[at];
    const std::uint32_t end = first_[at + 1];
    const std::int64_t here = distance_[at];
    while (a != end &&
           (arcs_[a].left == 0 || seen_[arcs_[a].to] == search_ || arcs_[a].cost + here != distance_[arcs_[a].to]))
      ++a;
    if (a == end) {
      if (at == 0 || most == 0) return false;
      --most;
      next_arc_[at] = end;
      at = arcs_[reverse_[way_.back().arc]].to;
      way_.pop_back();
      continue;
    }
    next_arc_[at] = a + 1;
    way_.push_back({a, static_cast<std::uint32_t>(entered_.size())});
    at = arcs_[a].to;
    enter(at);
  }
  return true;
}

/// Along the way of the last walk. The next one begins where the first arc of it is full: up to there it would come the
/// same way, by the same places in vain.
std::uint64_t IntervalFlow::push(std::uint64_t most) {
  for (const Stage &stage : way_)
    most = std::min(most, arcs_[stage.arc].left);
  std::size_t full = way_.size() - 1;
  for (std::size_t i = way_.size(); i-- > 0;) {
    Arc &arc = arcs_[way_[i].arc];
    arc.left -= most;
    arcs_[reverse_[way_[i].arc]].left += most;
    if (arc.left == 0) full = i;
  }
  for (std::uint32_t i = way_[full].entered; i < entered_.size(); ++i)
    seen_[entered_[i]] = 0;
  entered_.resize(way_[full].entered);
  way_.resize(full);
  return most;
}

void IntervalFlow::grow(std::uint64_t room) {
  while (room_ < room) {
    if (!find_distances()) {
      room_ = room;
      return;
    }
    // Mostly there is one way of that length. More are looked for nearby; one that is farther is found with distances
    // that are found again, and are the same.
    begin_walks();
    for (std::size_t most = distance_.size(); room_ < room && walk(most); most = kPatience)
      room_ += push(room - room_);
  }
}

std::vector<std::uint64_t> IntervalFlow::held() const {
  std::vector<std::uint64_t> units;
  for (std::size_t i = 0; i < intervals_.size(); ++i)
    units.push_back(intervals_[i].units - arcs_[arc_of_[i]].left);
  return units;
}

} // namespace gradweave::memory_model
