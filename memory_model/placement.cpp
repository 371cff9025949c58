#include "memory_model/placement.hpp"

#include "memory_model/room.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

namespace gradweave::memory_model {
namespace {

constexpr std::int64_t kLoad = 720720; ///< profit of a byte that is not loaded; divisible by all up to 16
constexpr std::int64_t kWindow = 1000 * kLoad;

std::int64_t profit_of(const Gap &gap) {
  return (gap.read_again ? kLoad : 0) + (gap.write_shares > 0 ? (kLoad + gap.write_shares - 1) / gap.write_shares : 0);
}

std::uint64_t all_traffic(const Iteration &iteration, const Uses &uses) {
  std::uint64_t bytes = 0;
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const Access &access = uses.what[a];
    bytes += (access.reads ? 1U : 0U) * iteration.tensors[access.tensor].bytes;
    // What nobody reads again and need not last is never written.
    if (access.writes && (uses.next[a] != kNever || iteration.tensors[access.tensor].to_memory))
      bytes += iteration.tensors[access.tensor].bytes;
  }
  return bytes;
}

} // namespace

Planner::Planner(const Iteration &iteration, const Uses &uses)
    : iteration_(iteration), uses_(uses), gaps_(find_gaps(iteration, uses)) {
  std::vector<std::uint32_t> order(gaps_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::make_pair(gaps_[a].from, a) < std::make_pair(gaps_[b].from, b);
  });
  for (const std::uint32_t g : order)
    (gaps_[g].write_shares == 1 && gaps_[g].read_again ? twice_ : once_).push_back(g);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::make_pair(gaps_[a].to - gaps_[a].from, a) < std::make_pair(gaps_[b].to - gaps_[b].from, b);
  });
  shortest_first_ = std::move(order);
}

void Planner::flow_to(std::uint64_t capacity) {
  if (!flow_ || capacity < flowed_) {
    std::vector<Interval> intervals;
    for (const Gap &gap : gaps_)
      intervals.push_back({gap.from, gap.to, gap.bytes, profit_of(gap)});
    for (std::uint32_t s = 0; s < uses_.window.size(); ++s)
      intervals.push_back({Places::begin(s), Places::end(s), uses_.window[s], kWindow});
    flow_ = std::make_unique<IntervalFlow>(Places::begin(static_cast<std::uint32_t>(uses_.window.size())) + 1,
                                           std::move(intervals));
  }
  flow_->grow(capacity);
  flowed_ = capacity;
}

Plan Planner::rows(std::uint64_t capacity) {
  if (iteration_.steps.size() > kMostSteps) return by_belady(capacity);
  flow_to(capacity);
  const std::vector<std::uint64_t> held = flow_->held();
  Plan plan{std::vector<std::uint64_t>(uses_.accesses())};
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    plan.kept[gaps_[g].access] = held[g];
  return plan;
}

std::uint64_t Planner::least_traffic(std::uint64_t capacity) {
  flow_to(capacity);
  const std::vector<std::uint64_t> held = flow_->held();
  double saved = 0;
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    saved += static_cast<double>(held[g]) * static_cast<double>(profit_of(gaps_[g])) / kLoad;
  const std::uint64_t all = all_traffic(iteration_, uses_);
  return all - std::min(all, static_cast<std::uint64_t>(std::ceil(saved)));
}

namespace {

/// Belady's rule on bytes along a line whose places have room of their own: of what is held too much, that which is
/// needed last goes.
class ByteBelady {
public:
  ByteBelady(const std::vector<Gap> &gaps, std::vector<std::uint64_t> room, Plan &plan)
      : gaps_(gaps), room_(std::move(room)), plan_(plan) {}

  /// Adds gaps that ascend by where they begin.
  void add(const std::vector<std::uint32_t> &order) {
    std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> active; // by end; what has ended is never looked at
    std::vector<std::uint64_t> ends(room_.size() + 1);                   // bytes held up to each place
    std::uint64_t held = 0;
    std::size_t next = 0;
    for (std::uint32_t place = 0; place < room_.size(); ++place) {
      held -= ends[place];
      for (; next < order.size() && gaps_[order[next]].from == place; ++next) {
        const Gap &gap = gaps_[order[next]];
        if (gap.to <= place) continue;
        plan_.kept[gap.access] = gap.bytes;
        held += gap.bytes;
        ends[gap.to] += gap.bytes;
        active.emplace(gap.to, order[next]);
      }
      while (held > room_[place]) {
        const auto [end, last] = active.top();
        std::uint64_t &kept = plan_.kept[gaps_[last].access];
        const std::uint64_t gone = std::min(kept, held - room_[place]);
        kept -= gone;
        held -= gone;
        ends[end] -= gone;
        if (kept == 0) active.pop();
      }
    }
    take(order);
  }

private:
  void take(const std::vector<std::uint32_t> &order) {
    std::vector<std::int64_t> change(room_.size() + 1);
    for (const std::uint32_t g : order) {
      change[gaps_[g].from] += static_cast<std::int64_t>(plan_.kept[gaps_[g].access]);
      change[gaps_[g].to] -= static_cast<std::int64_t>(plan_.kept[gaps_[g].access]);
    }
    std::int64_t held = 0;
    for (std::size_t place = 0; place < room_.size(); ++place)
      room_[place] -= static_cast<std::uint64_t>(held += change[place]);
  }

  const std::vector<Gap> &gaps_;
  std::vector<std::uint64_t> room_;
  Plan &plan_;
};

} // namespace

std::vector<std::uint64_t> Planner::room(std::uint64_t capacity) const {
  std::vector<std::uint64_t> room;
  room.reserve(Places::kEach * uses_.window.size());
  for (const std::uint64_t window : uses_.window)
    room.insert(room.end(), {capacity - window, capacity - window, capacity});
  return room;
}

Plan Planner::by_belady(std::uint64_t capacity) const {
  Plan plan{std::vector<std::uint64_t>(uses_.accesses())};
  ByteBelady line(gaps_, room(capacity), plan);
  line.add(twice_);
  line.add(once_);
  return plan;
}

Plan Planner::pack(std::uint64_t capacity) const {
  Room left(room(capacity));
  Plan plan{std::vector<std::uint64_t>(uses_.accesses())};
  for (const std::uint32_t g : shortest_first_) {
    const Gap &gap = gaps_[g];
    if (!left.has(gap.from, gap.to, gap.bytes)) continue;
    left.take(gap.from, gap.to, gap.bytes);
    plan.kept[gap.access] = gap.bytes;
  }
  return plan;
}

} // namespace gradweave::memory_model
