#include "memory_model/thesis.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

namespace gradweave::memory_model {
namespace {

/// Tensors in the cache; the one whose next use is the farthest is the first to go.
class Resident {
public:
  Resident(const Iteration &iteration, const Uses &uses, std::vector<bool> &stays)
      : iteration_(iteration), uses_(uses), stays_(stays) {}

  /// A tensor stays behind an access.
  void insert(std::uint32_t access) {
    stays_[access] = true;
    by_next_use_.emplace(uses_.step[uses_.next[access]], access);
    bytes_ += bytes(access);
  }
  /// It is used again; its entry is behind all that stay longer, and is never looked at.
  void use(std::uint32_t access) {
    if (stays_[access]) bytes_ -= bytes(access);
  }
  /// Lets those with the farthest next use go until at most so many bytes are left.
  void shrink(std::uint64_t most) {
    while (bytes_ > most) {
      const std::uint32_t access = by_next_use_.top().second;
      by_next_use_.pop();
      stays_[access] = false;
      bytes_ -= bytes(access);
    }
  }

private:
  std::uint64_t bytes(std::uint32_t access) const { return iteration_.tensors[uses_.what[access].tensor].bytes; }

  const Iteration &iteration_;
  const Uses &uses_;
  std::vector<bool> &stays_;
  std::priority_queue<std::pair<std::uint32_t, std::uint32_t>> by_next_use_;
  std::uint64_t bytes_ = 0;
};

} // namespace

std::vector<bool> belady(const Iteration &iteration, const Uses &uses, std::uint64_t capacity) {
  std::vector<bool> stays(uses.accesses());
  Resident resident(iteration, uses, stays);
  for (std::uint32_t s = 0; s < iteration.steps.size(); ++s) {
    for (std::uint32_t a = uses.first[s]; a < uses.first[s + 1]; ++a)
      if (uses.previous[a] != kNever) resident.use(uses.previous[a]);
    if (uses.footprint[s] <= capacity) resident.shrink(capacity - uses.footprint[s]);
    for (std::uint32_t a = uses.first[s]; a < uses.first[s + 1]; ++a)
      if (uses.next[a] != kNever && iteration.tensors[uses.what[a].tensor].bytes <= capacity) resident.insert(a);
    resident.shrink(capacity);
  }
  return stays;
}

namespace {

/// The iteration in time, layer by layer, on one bus.
class ThesisRun {
public:
  ThesisRun(const Iteration &iteration, const Uses &uses, const std::vector<bool> &stays, const Machine &machine,
            const ThesisReading &reading)
      : iteration_(iteration), uses_(uses), machine_(machine), reading_(reading), stays_(stays),
        arrives_(uses.accesses(), kNotLoaded) {
    find_room();
    find_dirty();
    if (reading.prefetch) list_prefetches();
  }

  Estimate run() {
    for (std::uint32_t s = 0; s < iteration_.steps.size(); ++s)
      step(s);
    drain();
    if (const auto last = static_cast<std::uint32_t>(iteration_.steps.size() - 1); !large_[last]) offload(last);
    result_.seconds = all_done();
    result_.steps.back().total += result_.seconds - now_;
    return std::move(result_);
  }

private:
  static constexpr double kNotLoaded = -1, kWaiting = -2;

  std::uint64_t bytes(std::uint32_t access) const { return iteration_.tensors[uses_.what[access].tensor].bytes; }
  double compute_time(std::uint32_t s) const { return iteration_.steps[s].operations / machine_.throughput; }
  bool comes_in(std::uint32_t access) const {
    const std::uint32_t before = uses_.previous[access];
    return uses_.what[access].reads && (before == kNever || !stays_[before]);
  }

  /// Room that is left in each step beside its own tensors and all that stays.
  void find_room() {
    std::vector<std::int64_t> change(iteration_.steps.size() + 1);
    for (std::uint32_t a = 0; a < uses_.accesses(); ++a)
      if (stays_[a] && uses_.step[a] + 1 < uses_.step[uses_.next[a]]) {
        change[uses_.step[a] + 1] += static_cast<std::int64_t>(bytes(a));
        change[uses_.step[uses_.next[a]]] -= static_cast<std::int64_t>(bytes(a));
      }
    const auto capacity = static_cast<std::int64_t>(machine_.capacity);
    std::int64_t kept = 0;
    for (std::uint32_t s = 0; s < iteration_.steps.size(); ++s) {
      kept += change[s];
      std::int64_t own = static_cast<std::int64_t>(uses_.footprint[s]);
      large_.push_back(own > capacity);
      if (large_[s]) { // what it has before, or leaves behind
        std::int64_t before = 0, after = 0;
        for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1]; ++a) {
          if (uses_.previous[a] != kNever && stays_[uses_.previous[a]]) before += static_cast<std::int64_t>(bytes(a));
          if (stays_[a]) after += static_cast<std::int64_t>(bytes(a));
        }
        own = std::max(before, after);
      }
      room_.push_back(std::max<std::int64_t>(0, capacity - kept - own));
    }
  }

  /// What differs from the tensor's bytes in memory behind an access.
  void find_dirty() {
    dirty_.resize(uses_.accesses());
    for (std::uint32_t a = 0; a < uses_.accesses(); ++a) {
      const std::uint32_t before = uses_.previous[a];
      dirty_[a] = uses_.what[a].writes || (before != kNever && stays_[before] && dirty_[before]);
    }
  }

  /// Whether the tensor is written to memory behind the access, where it does not stay.
  bool goes_out(std::uint32_t access) const {
    if (!dirty_[access] || (uses_.next[access] != kNever && stays_[access])) return false;
    const std::uint32_t next = uses_.next[access];
    return next == kNever ? iteration_.tensors[uses_.what[access].tensor].to_memory : true;
  }

  /// A tensor of step i is listed in step i - k, k least with so much computing between that it hides the loading.
  void list_prefetches() {
    listed_.resize(iteration_.steps.size());
    for (std::uint32_t a = 0; a < uses_.accesses(); ++a) {
      const std::uint32_t s = uses_.step[a];
      if (!comes_in(a) || large_[s] || s == 0) continue;
      const double loading = static_cast<double>(bytes(a)) / machine_.bandwidth;
      const std::uint32_t earliest = uses_.previous[a] == kNever ? 0 : uses_.step[uses_.previous[a]] + 1;
      std::uint32_t at = s;
      for (double computing = 0; at > earliest && computing < loading;)
        computing += compute_time(--at);
      if (at < s) listed_[at].push_back(a);
    }
  }

  double duration(std::uint64_t bytes) const { return static_cast<double>(bytes) / machine_.bandwidth; }
  /// Lets what waits go, in order, while nothing is loaded that a step waits for, up to now.
  void drain() {
    double idle = std::max(0.0, now_ - std::max(drained_until_, bus_free_));
    while (!waiting_.empty() && idle > 0) {
      Transfer &first = waiting_.front();
      const double done = std::min(idle, first.left);
      idle -= done;
      first.left -= done;
      if (first.access == kNever) writing_ -= done;
      if (first.left <= 0) waiting_.pop_front();
    }
    drained_until_ = now_;
  }
  /// Moves something before all that waits.
  void move_now(double duration) { bus_free_ = std::max(bus_free_, now_) + duration; }
  void move(double duration, std::uint32_t prefetched) {
    if (reading_.bus == ThesisReading::Bus::kInOrder) {
      move_now(duration);
      if (prefetched != kNever) arrives_[prefetched] = bus_free_;
      return;
    }
    waiting_.push_back({duration, prefetched});
    if (prefetched == kNever)
      writing_ += duration;
    else
      arrives_[prefetched] = kWaiting;
  }
  void write(std::uint32_t access) {
    result_.bytes_out += bytes(access);
    move(duration(bytes(access)), kNever);
  }
  /// When a tensor that comes in is there; what of it still waits is loaded now.
  double there(std::uint32_t access) {
    if (arrives_[access] >= 0) return arrives_[access];
    double left = duration(bytes(access));
    if (arrives_[access] == kWaiting) {
      const auto known = std::find_if(waiting_.begin(), waiting_.end(),
                                      [access](const Transfer &transfer) { return transfer.access == access; });
      left = known == waiting_.end() ? 0 : known->left;
      if (known != waiting_.end()) waiting_.erase(known);
    } else {
      result_.bytes_in += bytes(access);
    }
    if (left == 0) return now_;
    move_now(left);
    return bus_free_;
  }
  /// What waits to be written keeps its place: a step that needs it has to wait for as much.
  double make_room(std::uint32_t s) {
    double excess = writing_ - duration(static_cast<std::uint64_t>(room_[s]));
    if (excess <= 0) return now_;
    move_now(excess);
    writing_ -= excess;
    for (auto transfer = waiting_.begin(); excess > 0 && transfer != waiting_.end();) {
      const double done = transfer->access == kNever ? std::min(excess, transfer->left) : 0;
      excess -= done;
      transfer->left -= done;
      transfer = transfer->left <= 0 ? waiting_.erase(transfer) : transfer + 1;
    }
    return bus_free_;
  }
  /// When all that was begun is done.
  double all_done() const {
    double left = 0;
    for (const Transfer &transfer : waiting_)
      left += transfer.left;
    return std::max(bus_free_, now_) + left;
  }

  void offload(std::uint32_t s) {
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1]; ++a)
      if (goes_out(a)) write(a);
  }

  /// A tensor is loaded if it has room until it is used; else it is listed again in the next step.
  void prefetch(std::uint32_t s) {
    for (std::size_t i = 0; i < listed_[s].size(); ++i) {
      const std::uint32_t access = listed_[s][i], used = uses_.step[access];
      const auto needed = static_cast<std::int64_t>(bytes(access));
      const auto from = room_.begin() + s, to = room_.begin() + used;
      if (static_cast<double>(*from - needed) / machine_.bandwidth >= writing_ &&
          std::all_of(from, to, [needed](std::int64_t room) { return room >= needed; })) {
        std::for_each(from, to, [needed](std::int64_t &room) { room -= needed; });
        result_.bytes_in += bytes(access);
        move(duration(bytes(access)), access);
      } else if (s + 1 < used) {
        listed_[s + 1].push_back(access);
      }
    }
  }

  void step(std::uint32_t s) {
    const double begin = now_, compute = compute_time(s);
    const bool streams = large_[s] && reading_.large == ThesisReading::Large::kStreamed;
    drain();
    if (s > 0 && !large_[s - 1]) offload(s - 1);
    if (reading_.prefetch) prefetch(s);
    double ready = large_[s] ? begin : make_room(s);
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1]; ++a)
      if (comes_in(a)) ready = std::max(ready, there(a));
    if (large_[s]) offload(s);
    if (streams) {
      bus_free_ = all_done();
      now_ = std::max(begin + compute, bus_free_);
      waiting_.clear();
      writing_ = 0;
    } else {
      now_ = ready + compute;
    }
    result_.compute_seconds += compute;
    result_.steps.push_back({compute, now_ - begin});
  }

  const Iteration &iteration_;
  const Uses &uses_;
  const Machine &machine_;
  const ThesisReading &reading_;
  const std::vector<bool> &stays_;
  std::vector<bool> dirty_, large_;
  std::vector<std::int64_t> room_;
  std::vector<double> arrives_; ///< of each access: when what was prefetched is there
  std::vector<std::vector<std::uint32_t>> listed_;
  double now_ = 0, drained_until_ = 0;
  double bus_free_ = 0; ///< when the bus has done all that steps wait for; in order: all
  struct Transfer {
    double left;          ///< seconds
    std::uint32_t access; ///< of what is prefetched; kNever: it is written
  };
  std::deque<Transfer> waiting_; ///< for the bus to be idle
  double writing_ = 0;           ///< seconds of writes among them
  Estimate result_;
};

} // namespace

Estimate estimate_thesis(const Iteration &iteration, const Uses &uses, const std::vector<bool> &stays,
                         const Machine &machine, const ThesisReading &reading) {
  return ThesisRun(iteration, uses, stays, machine, reading).run();
}

} // namespace gradweave::memory_model
