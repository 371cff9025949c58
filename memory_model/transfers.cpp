// Of a plan, when its bytes are moved, and how long that takes.
#include "memory_model/plan.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace gradweave::memory_model {
namespace {

/// Calls move(access, bytes in, bytes out) for each access under a plan.
template <typename Move> void for_moved(const Iteration &iteration, const Uses &uses, const Plan &plan, Move move) {
  std::vector<std::uint64_t> dirty(uses.accesses());
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const Access &access = uses.what[a];
    const Tensor &tensor = iteration.tensors[access.tensor];
    const std::uint32_t before = uses.previous[a];
    const std::uint64_t stayed = before == kNever ? 0 : plan.kept[before];
    dirty[a] = access.writes ? tensor.bytes : before == kNever ? 0 : std::min(dirty[before], stayed);
    std::uint64_t out = 0;
    if (uses.next[a] != kNever)
      out = dirty[a] - std::min(dirty[a], plan.kept[a]);
    else if (tensor.to_memory)
      out = dirty[a];
    move(a, access.reads ? tensor.bytes - stayed : 0, out);
  }
}

class Transfers {
public:
  Transfers(const Iteration &iteration, const Uses &uses, const Plan &plan, const Machine &machine)
      : iteration_(iteration), uses_(uses), plan_(plan), machine_(machine),
        steps_(static_cast<std::uint32_t>(iteration.steps.size())), loads_(steps_), writes_(steps_), hidden_(steps_),
        begun_(uses.accesses(), steps_) {
    for (const Step &step : iteration.steps)
      hidden_[hidden_count_++] = step.operations / machine.throughput * machine.bandwidth;
  }

  Estimate run(const std::vector<std::uint64_t> &held) {
    count();
    find_room(held);
    load_ahead();
    write_later();
    for (std::uint32_t s = 0; s < steps_; ++s) {
      const double compute = iteration_.steps[s].operations / machine_.throughput;
      const double total = std::max(compute, (loads_[s] + writes_[s]) / machine_.bandwidth);
      result_.compute_seconds += compute;
      result_.seconds += total;
      result_.steps.push_back({compute, total});
    }
    result_.steps.back().total += left_ / machine_.bandwidth;
    result_.seconds += left_ / machine_.bandwidth;
    return std::move(result_);
  }

private:
  void count() {
    in_.reserve(uses_.accesses());
    out_.reserve(uses_.accesses());
    for_moved(iteration_, uses_, plan_, [this](std::uint32_t a, std::uint64_t in, std::uint64_t out) {
      in_.push_back(in);
      out_.push_back(out);
      result_.bytes_in += in;
      result_.bytes_out += out;
      loads_[uses_.step[a]] += static_cast<double>(in);
      writes_[uses_.step[a]] += static_cast<double>(out);
    });
  }

  void find_room(const std::vector<std::uint64_t> &held) {
    const auto left = [&](std::uint32_t place) {
      return machine_.capacity > held[place] ? static_cast<double>(machine_.capacity - held[place]) : 0.0;
    };
    for (std::uint32_t s = 0; s < steps_; ++s) {
      in_step_.push_back(std::min(left(Places::begin(s)), left(Places::middle(s))));
      behind_.push_back(left(Places::end(s)));
    }
  }

  /// Something that waits for a step with time for it.
  struct Waiting {
    std::uint32_t limit; ///< the first step in which it may be loaded; the last in which it may be written
    std::uint32_t access;
    double bytes;
  };
  struct ByLatestLimit {
    bool operator()(const Waiting &a, const Waiting &b) const { return a.limit < b.limit; }
  };
  struct ByEarliestLimit {
    bool operator()(const Waiting &a, const Waiting &b) const { return a.limit > b.limit; }
  };

  /// From the last step to the first: what a step has no time to load is loaded before it.
  void load_ahead() {
    std::priority_queue<Waiting, std::vector<Waiting>, ByLatestLimit> ahead;
    double bytes = 0; // of these
    for (std::uint32_t s = steps_; s-- > 0;) {
      const auto load = [&](double most) {
        Waiting next = ahead.top();
        const double here = std::min(next.bytes, most);
        loads_[s] += here;
        bytes -= here;
        begun_[next.access] = std::min(begun_[next.access], s);
        ahead.pop();
        next.bytes -= here;
        if (next.bytes > 0) ahead.push(next);
      };
      double idle = hidden_[s] - loads_[s] - writes_[s];
      while (!ahead.empty() && idle > 0) {
        const double most = idle;
        idle -= std::min(ahead.top().bytes, most);
        load(most);
      }
      const double passing = s == 0 ? 0 : std::min(in_step_[s], behind_[s - 1]);
      while (!ahead.empty() && (ahead.top().limit >= s || bytes > passing))
        load(ahead.top().limit >= s ? ahead.top().bytes : bytes - passing);
      in_step_[s] -= bytes;
      if (s > 0) defer_loads(s, ahead, bytes);
      if (s > 0) behind_[s - 1] -= bytes;
    }
  }

  template <typename Queue> void defer_loads(std::uint32_t s, Queue &ahead, double &bytes) {
    double excess = loads_[s] + writes_[s] - hidden_[s];
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1] && excess > 0; ++a) {
      const std::uint32_t before = uses_.previous[a];
      const std::uint32_t limit = before == kNever ? 0 : uses_.step[before] + 1;
      const double part = std::min({static_cast<double>(in_[a]), excess, behind_[s - 1] - bytes});
      if (limit >= s || part <= 0) continue;
      ahead.push({limit, a, part});
      excess -= part;
      bytes += part;
      loads_[s] -= part;
    }
  }

  /// From the first step to the last: what a step has no time to write is written behind it.
  void write_later() {
    std::priority_queue<Waiting, std::vector<Waiting>, ByEarliestLimit> later;
    double bytes = 0;
    for (std::uint32_t s = 0; s < steps_; ++s) {
      const auto write = [&](double most) {
        Waiting next = later.top();
        const double here = std::min(next.bytes, most);
        writes_[s] += here;
        bytes -= here;
        later.pop();
        next.bytes -= here;
        if (next.bytes > 0) later.push(next);
      };
      double idle = hidden_[s] - loads_[s] - writes_[s];
      while (!later.empty() && idle > 0) {
        const double most = idle;
        idle -= std::min(later.top().bytes, most);
        write(most);
      }
      while (!later.empty() && (later.top().limit <= s || bytes > std::min(in_step_[s], behind_[s])))
        write(later.top().limit <= s ? later.top().bytes : bytes - std::min(in_step_[s], behind_[s]));
      defer_writes(s, later, bytes);
    }
    left_ = bytes;
  }

  template <typename Queue> void defer_writes(std::uint32_t s, Queue &later, double &bytes) {
    double excess = loads_[s] + writes_[s] - hidden_[s];
    for (std::uint32_t a = uses_.first[s]; a < uses_.first[s + 1] && excess > 0; ++a) {
      const std::uint32_t next = uses_.next[a];
      // Before the first of it is loaded again.
      const std::uint32_t again = next == kNever ? steps_ : std::min(begun_[next], uses_.step[next]);
      const double part = std::min({static_cast<double>(out_[a]), excess, behind_[s] - bytes});
      if (again <= s + 1 || part <= 0) continue;
      later.push({again - 1, a, part});
      excess -= part;
      bytes += part;
      writes_[s] -= part;
    }
  }

  const Iteration &iteration_;
  const Uses &uses_;
  const Plan &plan_;
  const Machine &machine_;
  std::uint32_t steps_, hidden_count_ = 0;
  std::vector<std::uint64_t> in_, out_;         ///< bytes of each access
  std::vector<double> loads_, writes_, hidden_; ///< bytes of each step: moved in it, and hidden behind its computing
  std::vector<double> in_step_, behind_;        ///< room in each step, and between it and the next
  std::vector<std::uint32_t> begun_;            ///< of each access, the first step that loads any of it
  double left_ = 0;                             ///< bytes that are written when all is computed
  Estimate result_;
};

} // namespace

Moved moved(const Iteration &iteration, const Uses &uses, const Plan &plan) {
  Moved bytes;
  for_moved(iteration, uses, plan, [&bytes](std::uint32_t /*access*/, std::uint64_t in, std::uint64_t out) {
    bytes.in += in;
    bytes.out += out;
  });
  return bytes;
}

Estimate estimate_plan(const Iteration &iteration, const Uses &uses, const std::vector<Gap> &gaps, const Plan &plan,
                       const Machine &machine) {
  return Transfers(iteration, uses, plan, machine).run(occupied(uses, gaps, plan));
}

} // namespace gradweave::memory_model
