#include "memory_model/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

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

RowPlanner::RowPlanner(const Iteration &iteration, const Uses &uses)
    : iteration_(iteration), uses_(uses), gaps_(find_gaps(iteration, uses)) {
  for (const Step &step : iteration.steps)
    windows_.push_back(working_window(iteration, step));
}

void RowPlanner::flow_to(std::uint64_t capacity) {
  if (!flow_ || capacity < flowed_) {
    std::vector<Interval> intervals;
    for (const Gap &gap : gaps_)
      intervals.push_back({gap.from, gap.to, gap.bytes, profit_of(gap)});
    for (std::uint32_t s = 0; s < windows_.size(); ++s)
      intervals.push_back({Places::begin(s), Places::end(s), windows_[s], kWindow});
    flow_ = std::make_unique<IntervalFlow>(Places::begin(static_cast<std::uint32_t>(windows_.size())) + 1,
                                           std::move(intervals));
  }
  flow_->grow(capacity);
  flowed_ = capacity;
}

Plan RowPlanner::plan(std::uint64_t capacity) {
  if (iteration_.steps.size() > kMostSteps) return by_belady(capacity);
  flow_to(capacity);
  const std::vector<std::uint64_t> held = flow_->held();
  Plan plan{std::vector<std::uint64_t>(uses_.accesses())};
  for (std::size_t g = 0; g < gaps_.size(); ++g)
    plan.kept[gaps_[g].access] = held[g];
  return plan;
}

std::uint64_t RowPlanner::least_traffic(std::uint64_t capacity) {
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
    std::set<std::pair<std::uint32_t, std::uint32_t>> active; // by end
    std::uint64_t held = 0;
    std::size_t next = 0;
    for (std::uint32_t place = 0; place < room_.size(); ++place) {
      while (!active.empty() && active.begin()->first <= place) {
        held -= plan_.kept[gaps_[active.begin()->second].access];
        active.erase(active.begin());
      }
      for (; next < order.size() && gaps_[order[next]].from == place; ++next) {
        const Gap &gap = gaps_[order[next]];
        if (gap.to <= place) continue;
        plan_.kept[gap.access] = gap.bytes;
        held += gap.bytes;
        active.emplace(gap.to, order[next]);
      }
      while (held > room_[place]) {
        const auto last = std::prev(active.end());
        std::uint64_t &kept = plan_.kept[gaps_[last->second].access];
        const std::uint64_t gone = std::min(kept, held - room_[place]);
        kept -= gone;
        held -= gone;
        if (kept == 0) active.erase(last);
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

std::vector<std::uint64_t> room_of(const std::vector<std::uint64_t> &windows, std::uint64_t capacity) {
  std::vector<std::uint64_t> room;
  for (const std::uint64_t window : windows)
    room.insert(room.end(), {capacity - window, capacity - window, capacity});
  return room;
}

} // namespace

Plan RowPlanner::by_belady(std::uint64_t capacity) const {
  Plan plan{std::vector<std::uint64_t>(uses_.accesses())};
  std::vector<std::uint32_t> order(gaps_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::make_pair(gaps_[a].from, a) < std::make_pair(gaps_[b].from, b);
  });
  std::vector<std::uint32_t> twice, once;
  for (const std::uint32_t g : order)
    (gaps_[g].write_shares == 1 && gaps_[g].read_again ? twice : once).push_back(g);
  ByteBelady line(gaps_, room_of(windows_, capacity), plan);
  line.add(twice);
  line.add(once);
  return plan;
}

Plan pack(const Iteration &iteration, const Uses &uses, const std::vector<Gap> &gaps, std::uint64_t capacity) {
  std::vector<std::uint64_t> windows;
  for (const Step &step : iteration.steps)
    windows.push_back(working_window(iteration, step));
  std::vector<std::uint64_t> room = room_of(windows, capacity);
  std::vector<std::uint32_t> order(gaps.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&gaps](std::uint32_t a, std::uint32_t b) {
    return std::make_pair(gaps[a].to - gaps[a].from, a) < std::make_pair(gaps[b].to - gaps[b].from, b);
  });
  Plan plan{std::vector<std::uint64_t>(uses.accesses())};
  for (const std::uint32_t g : order) {
    const auto from = room.begin() + gaps[g].from, to = room.begin() + gaps[g].to;
    if (gaps[g].bytes > capacity || std::any_of(from, to, [&](std::uint64_t left) { return left < gaps[g].bytes; }))
      continue;
    std::for_each(from, to, [&](std::uint64_t &left) { left -= gaps[g].bytes; });
    plan.kept[gaps[g].access] = gaps[g].bytes;
  }
  return plan;
}

} // namespace gradweave::memory_model
