// DRAM timing at burst level: one half-duplex channel, exact rational bandwidth, integer arithmetic.
//
// The SystemC testbench and the timing model link this class, so the memory's timing lives in one place. It is a pure
// function of the bursts' arrivals: it has no clock of its own and no random part.
//
// Rules
//   Time    One cycle is bytes_num ticks. A burst is a number of accesses: the aligned granules of access_bytes that
//           hold its wanted bytes (BurstBytes). It occupies the channel for access_bytes * bytes_den ticks an access,
//           so fractions of a cycle carry over from burst to burst without rounding.
//   Arrival A request arrives in a cycle: a read when its address is taken, a write when its last data beat is.
//           Within a direction requests are served in order of arrival.
//   Choice  When the channel is free and a request has arrived, at time t = max(end of the last service, first
//           arrival of a request that waits), one is chosen among those that arrived at or before t: the channel stays
//           in its direction while that has a request and fewer than batch_bytes were served since the other direction
//           began to wait; otherwise it serves the other direction. The first choice prefers reads.
//   Service A chosen burst starts at t, or, if the direction changes, not before turnaround_cycles after the end
//           of the last service. (An idle channel turns around for free; the first burst pays nothing.)
//   Refresh A channel that is idle for refresh_cycles refreshes meanwhile, and the next refresh falls due
//           refresh_interval_cycles after the cycle in which it serves again. One that stays busy refreshes when the
//           time t of a choice lies in the cycle in which one is due, or later: no service starts before
//           t + refresh_cycles, and the next falls due refresh_interval_cycles after this one did. It may turn around
//           meanwhile.
//   Answer  A beat of a read that starts at s and whose last access is the burst's k-th (from 0) is available in cycle
//           ceil(s + (k + 1) * access_bytes * bytes_den / bytes_num) + latency_cycles, a write's response in cycle
//           ceil(end of service) + latency_cycles. Both lie after the cycle of the choice.
//
// This class holds the channel; who uses it holds the queues and tells the arrival of their first requests.
#pragma once

#include "sw_models/config/memory_config.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gradweave {

/// The wanted bytes of a burst, counted from its address, which is a multiple of the beat.
struct BurstBytes {
  std::uint32_t first = 0, last = 0;

  /// Accesses that hold them.
  std::uint32_t accesses(std::uint32_t access_bytes) const { return last / access_bytes - first / access_bytes + 1; }
  /// The last access, from 0, that beat `beat` of `bus_bytes` needs.
  std::uint32_t last_access(std::uint32_t beat, std::uint32_t bus_bytes, std::uint32_t access_bytes) const {
    return std::min(last, (beat + 1) * bus_bytes - 1) / access_bytes - first / access_bytes;
  }
};

class DramChannel {
public:
  enum class Direction : std::uint8_t { kRead = 0, kWrite = 1 };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0}; ///< no request, no choice
  static constexpr std::uint32_t kMaxBeats = 256;           ///< of a burst (AXI4)
  static constexpr std::uint32_t kMaxBurstBytes = 4096;     ///< between two page borders (AXI4)

  /// A point in time: a cycle and ticks of 1 / bytes_num cycle in it.
  struct Instant {
    std::uint64_t cycle = 0, ticks = 0;
    bool operator<(const Instant &o) const { return cycle != o.cycle ? cycle < o.cycle : ticks < o.ticks; }
    bool operator==(const Instant &o) const { return cycle == o.cycle && ticks == o.ticks; }
    /// The first cycle that begins at this time or later.
    std::uint64_t ceil() const { return cycle + (ticks != 0); }
  };

  /// Times at a steady pace: the i-th is `first` + i * `step`.
  struct Pace {
    Instant first, step;
    /// So many cycles later.
    Pace later(std::uint64_t cycles) const { return {{first.cycle + cycles, first.ticks}, step}; }
  };

  /// Cycles in which the first waiting read and the first waiting write arrived; kNone if none waits.
  struct Waiting {
    std::uint64_t read = kNone, write = kNone;
    std::uint64_t of(Direction d) const { return d == Direction::kRead ? read : write; }
  };

  /// What the channel does next.
  struct Choice {
    Direction direction = Direction::kRead;
    Instant time; ///< of the choice
  };

  /// Service of a burst.
  struct Service {
    Instant start, end;
  };

  /// `bus_bytes`: bytes of a beat. Throws std::invalid_argument if the bandwidth fraction or bus_bytes is zero.
  DramChannel(const MemoryConfig &config, std::uint32_t bus_bytes);

  /// Time of the next choice; its cycle is kNone if nothing waits.
  Instant next_choice(const Waiting &waiting) const {
    const std::uint64_t first = std::min(waiting.read, waiting.write);
    return free_.cycle >= first && first != kNone ? free_ : Instant{first, 0};
  }

  /// The next choice. Something waits, and all arrivals up to its cycle are known.
  Choice choose(const Waiting &waiting) const {
    const Instant now = next_choice(waiting);
    const bool same = waiting.of(direction_) <= now.cycle, other = waiting.of(opposite(direction_)) <= now.cycle;
    return {!other || (same && in_batch()) ? direction_ : opposite(direction_), now};
  }

  /// Serves the first burst of the chosen direction, of `accesses` (1 to max_accesses()).
  Service serve(const Choice &choice, const Waiting &waiting, std::uint32_t accesses) {
    Instant start = refreshed(choice.time);
    if (choice.direction != direction_) {
      const Instant turned{free_.cycle + memory_.turnaround_cycles, free_.ticks};
      if (served_any_ && start < turned) start = turned;
      batch_served_ = 0;
      direction_ = choice.direction;
    }
    const bool other_waits = waiting.of(opposite(choice.direction)) <= choice.time.cycle;
    batch_served_ = other_waits ? batch_served_ + std::uint64_t{accesses} * memory_.access_bytes : 0;
    served_any_ = true;
    idle_cycles_ += start.cycle - free_.cycle - (start.ticks < free_.ticks ? 1 : 0);
    free_ = after(start, accesses);
    return {start, free_};
  }

  /// End of the last service.
  const Instant &free() const { return free_; }
  /// Whole cycles until then in which nothing was served.
  std::uint64_t idle_cycles() const { return idle_cycles_; }
  Direction direction() const { return direction_; }

  /// Serves up to `most` bursts of its direction one after the other, all of so many accesses, from the end of the last
  /// service on: as many as choose() would choose before cycle `until`, if all of them are there by then and no refresh
  /// goes first. `other`: arrival of the first that waits in the other direction. Returns their number.
  std::uint64_t serve_alike(std::uint32_t accesses, std::uint64_t most, std::uint64_t other, std::uint64_t until) {
    const Pace choices{free_, service_[accesses]};
    std::uint64_t count = count_before(choices, std::min(until, refresh_due_), most);
    const std::uint64_t alone = count_before(choices, other, count); // nobody waits in the other direction
    const std::uint64_t bytes = std::uint64_t{accesses} * memory_.access_bytes;
    std::uint64_t served = batch_served_; // 0, if at first nobody waits
    if (count > alone) {
      const std::uint64_t left = served < memory_.batch_bytes ? memory_.batch_bytes - served : 0;
      count = std::min(count, alone + (left + bytes - 1) / bytes);
      served += (count - alone) * bytes;
    }
    if (count == 0) return 0;
    free_ = at(choices, count);
    batch_served_ = served;
    return count;
  }
  /// Time of so many accesses.
  const Instant &service(std::uint32_t accesses) const { return service_[accesses]; }

  Instant at(const Pace &pace, std::uint64_t i) const {
    const std::uint64_t ticks = pace.first.ticks + i * pace.step.ticks, carry = whole_cycles(ticks);
    return {pace.first.cycle + i * pace.step.cycle + carry, ticks - carry * memory_.bytes_num};
  }
  /// Of the first `most` times, those before a cycle. Steps are above zero.
  std::uint64_t count_before(const Pace &pace, std::uint64_t cycle, std::uint64_t most) const {
    if (most == 0 || pace.first.cycle >= cycle) return 0;
    if (most == 1 || latest(pace, most - 1) < cycle || at(pace, most - 1).cycle < cycle) return most;
    return (ticks_from(pace.first, cycle) - 1) / ticks_of(pace.step) + 1;
  }
  /// Of the first `most` times, those until a cycle begins, that point of time included.
  std::uint64_t count_until(const Pace &pace, std::uint64_t cycle, std::uint64_t most) const {
    if (most == 0 || pace.first.ceil() > cycle) return 0;
    if (most == 1 || latest(pace, most - 1) < cycle || at(pace, most - 1).ceil() <= cycle) return most;
    return ticks_from(pace.first, cycle) / ticks_of(pace.step) + 1;
  }

  /// Cycle in which a beat of a read that is served from `start` on is available; `access`: its last, from 0.
  std::uint64_t read_beat_cycle(const Instant &start, std::uint32_t access) const {
    return after(start, access + 1).ceil() + memory_.latency_cycles;
  }
  /// Cycle in which the last beat of a read, or the response of a write, is available whose service ends at `end`.
  std::uint64_t answer_cycle(const Instant &end) const { return end.ceil() + memory_.latency_cycles; }

  /// Whether an access takes the DRAM a cycle or more, so that the bus never holds it up.
  bool slower_than_bus() const { return service_[1].cycle > 0; }
  /// Ticks of a cycle.
  std::uint64_t ticks_per_cycle() const { return memory_.bytes_num; }
  std::uint32_t access_bytes() const { return memory_.access_bytes; }
  /// Accesses of the longest burst.
  std::uint32_t max_accesses() const { return static_cast<std::uint32_t>(service_.size() - 1); }
  std::uint64_t latency_cycles() const { return memory_.latency_cycles; }

private:
  static Direction opposite(Direction d) { return d == Direction::kRead ? Direction::kWrite : Direction::kRead; }

  bool in_batch() const { return batch_served_ < memory_.batch_bytes; }

  std::uint64_t whole_cycles(std::uint64_t ticks) const {
    return ticks < memory_.bytes_num ? 0 : ticks / memory_.bytes_num;
  }
  /// A cycle in which, or before which, the i-th time is, without a division.
  static std::uint64_t latest(const Pace &pace, std::uint64_t i) {
    return pace.first.cycle + i * (pace.step.cycle + 1) + 1;
  }
  std::uint64_t ticks_of(const Instant &span) const { return span.cycle * memory_.bytes_num + span.ticks; }
  /// From `t` to the beginning of a cycle, which is not before `t`.
  std::uint64_t ticks_from(const Instant &t, std::uint64_t cycle) const {
    return (cycle - t.cycle) * memory_.bytes_num - t.ticks;
  }

  /// When a service of a choice at time `t` can start, but for the turnaround.
  Instant refreshed(Instant t) {
    if (memory_.refresh_cycles == 0) return t;
    if (!served_any_ || !(t < Instant{free_.cycle + memory_.refresh_cycles, free_.ticks})) {
      refresh_due_ = t.cycle + memory_.refresh_interval_cycles;
    } else if (t.cycle >= refresh_due_) {
      refresh_due_ += memory_.refresh_interval_cycles;
      t.cycle += memory_.refresh_cycles;
    }
    return t;
  }

  /// `accesses` of service after `t`.
  Instant after(Instant t, std::uint32_t accesses) const {
    const Instant &service = service_[accesses];
    t.cycle += service.cycle;
    t.ticks += service.ticks;
    const bool carry = t.ticks >= memory_.bytes_num;
    t.cycle += carry;
    t.ticks -= carry ? memory_.bytes_num : 0;
    return t;
  }

  MemoryConfig memory_;          ///< with access_bytes
  std::vector<Instant> service_; ///< time of n accesses

  bool served_any_ = false;
  Direction direction_ = Direction::kRead;
  Instant free_; ///< end of the last service
  std::uint64_t idle_cycles_ = 0;
  std::uint64_t refresh_due_ = kNone; ///< cycle; kNone: never
  std::uint64_t batch_served_ = 0;    ///< bytes served in direction_ since the other began to wait
};

} // namespace gradweave
