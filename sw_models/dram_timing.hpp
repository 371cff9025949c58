// DRAM timing at burst level: one half-duplex channel, exact rational bandwidth, integer arithmetic.
//
// The SystemC testbench and the timing model link this class, so the memory's timing lives in one place. It is a pure
// function of the bursts' arrivals: it has no clock of its own and no random part.
//
// Rules
//   Time    One cycle is bytes_num ticks. A burst of B bytes occupies the channel for B * bytes_den ticks, so fractions
//           of a cycle carry over from burst to burst without rounding.
//   Arrival A request arrives in a cycle: a read when its address is taken, a write when its last data beat is.
//           Within a direction requests are served in order of arrival.
//   Choice  When the channel is free and a request has arrived, at time t = max(end of the last service, first
//           arrival of a request that waits), one is chosen among those that arrived at or before t: the channel stays
//           in its direction while that has a request and fewer than batch_bytes were served since the other direction
//           began to wait; otherwise it serves the other direction. The first choice prefers reads.
//   Service A chosen burst starts at t, or, if the direction changes, not before turnaround_cycles after the end
//           of the last service. (An idle channel turns around for free; the first burst pays nothing.)
//   Answer  Beat k (from 0) of a read that starts at s is available in cycle
//           ceil(s + (k + 1) * bus_bytes * bytes_den / bytes_num) + latency_cycles, a write's response in cycle
//           ceil(end of service) + latency_cycles. Both lie after the cycle of the choice.
//
// Causality: a choice at time t, within cycle floor(t), uses only requests that arrived in cycle floor(t) or before.
// advance(c) therefore makes every choice with floor(t) <= c once all arrivals up to and including cycle c are known,
// and calling it every cycle, or only at cycles where something happens, gives the same grants.
#pragma once

#include "sw_models/npu_config.hpp"
#include "sw_models/ring.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace gradweave {

class DramTiming {
public:
  enum class Direction : std::uint8_t { kRead = 0, kWrite = 1 };
  static constexpr std::uint64_t kNoChoice = ~std::uint64_t{0};

  /// A point in time: a cycle and ticks of 1 / bytes_num cycle in it.
  struct Instant {
    std::uint64_t cycle = 0, ticks = 0;
    bool operator<(const Instant &o) const { return cycle != o.cycle ? cycle < o.cycle : ticks < o.ticks; }
    bool operator==(const Instant &o) const { return cycle == o.cycle && ticks == o.ticks; }
    /// The first cycle that begins at this time or later.
    std::uint64_t ceil() const { return cycle + (ticks != 0); }
  };

  /// A burst whose service is fixed.
  struct Grant {
    Direction direction = Direction::kRead;
    std::uint32_t id = 0; ///< as given to push()
    std::uint32_t beats = 0;
    Instant start, end;
  };

  /// `bus_bytes`: bytes of a beat. Throws std::invalid_argument if the bandwidth fraction or bus_bytes is zero.
  DramTiming(const DramConfig &config, std::uint32_t bus_bytes);

  /// Adds a burst of `beats` (1 to 256, AXI4's longest) full bus beats that arrives in `cycle`. Throws std::logic_error
  /// if `cycle` lies before an earlier arrival of that direction, or is not later than a cycle given to advance().
  void push(Direction direction, std::uint64_t cycle, std::uint32_t beats, std::uint32_t id) {
    const auto d = static_cast<std::size_t>(direction);
    if (beats - 1 >= kMaxBeats || cycle < last_arrival_[d] || cycle < known_until_) refuse(direction, cycle, beats);
    last_arrival_[d] = cycle;
    if (queue_[d].empty()) first_arrival_[d] = cycle;
    queue_[d].push({cycle, id, beats});
    plan();
  }

  /// Makes the next choice if it falls into cycle `cycle` or before; nullptr if it does not. Call until it returns
  /// nothing. The caller promises that all arrivals up to and including `cycle` have been pushed. The grant stays until
  /// the next call.
  const Grant *advance(std::uint64_t cycle) {
    known_until_ = std::max(known_until_, cycle + 1);
    if (next_.cycle >= known_until_) return nullptr;
    serve();
    return &grant_;
  }

  /// The cycle of the next choice, given the requests pushed so far; kNoChoice if none waits. A later push may bring it
  /// forward. An event-driven caller need not call advance() for an earlier cycle.
  std::uint64_t next_choice_cycle() const { return next_.cycle; }

  /// Cycle in which beat `beat` (from 0) of a granted read is available.
  std::uint64_t read_beat_cycle(const Grant &grant, std::uint32_t beat) const {
    return after(grant.start, beat + 1).ceil() + latency_cycles_;
  }
  /// Cycle in which the response of a granted write is available.
  std::uint64_t write_response_cycle(const Grant &grant) const { return grant.end.ceil() + latency_cycles_; }

  /// Requests that wait, both directions.
  std::size_t waiting() const { return queue_[0].size() + queue_[1].size(); }
  /// Ticks of a cycle.
  std::uint64_t ticks_per_cycle() const { return ticks_per_cycle_; }

private:
  static constexpr std::uint32_t kMaxBeats = 256;

  struct Request {
    std::uint64_t arrival;
    std::uint32_t id, beats;
  };

  [[noreturn]] void refuse(Direction direction, std::uint64_t cycle, std::uint32_t beats) const;

  /// `beats` beats of service after `t`.
  Instant after(Instant t, std::uint32_t beats) const {
    const Instant &service = service_[beats];
    t.cycle += service.cycle;
    t.ticks += service.ticks;
    const bool carry = t.ticks >= ticks_per_cycle_;
    t.cycle += carry;
    t.ticks -= carry ? ticks_per_cycle_ : 0;
    return t;
  }

  void plan() {
    const std::uint64_t first = std::min(first_arrival_[0], first_arrival_[1]);
    next_ = free_.cycle >= first && first != kNoChoice ? free_ : Instant{first, 0};
  }

  bool arrived(std::size_t d, Instant t) const { return first_arrival_[d] <= t.cycle; }

  void serve() {
    const Instant now = next_;
    const auto same = static_cast<std::size_t>(direction_), other = 1 - same;
    const bool stays = !arrived(other, now) || (arrived(same, now) && batch_served_ < batch_bytes_);
    Instant start = now;
    const std::size_t chosen = stays ? same : other;
    if (!stays) {
      const Instant turned{free_.cycle + turnaround_cycles_, free_.ticks};
      if (served_any_ && start < turned) start = turned;
      batch_served_ = 0;
      direction_ = static_cast<Direction>(chosen);
    }
    const std::uint32_t beats = queue_[chosen].front().beats;
    grant_.direction = direction_;
    grant_.id = queue_[chosen].front().id;
    grant_.beats = beats;
    grant_.start = start;
    queue_[chosen].pop();
    first_arrival_[chosen] = queue_[chosen].empty() ? kNoChoice : queue_[chosen].front().arrival;
    batch_served_ = arrived(1 - chosen, now) ? batch_served_ + std::uint64_t{beats} * bus_bytes_ : 0;
    served_any_ = true;
    free_ = after(start, beats);
    grant_.end = free_;
    plan();
  }

  std::uint64_t ticks_per_cycle_;
  std::uint64_t turnaround_cycles_, latency_cycles_, batch_bytes_;
  std::uint32_t bus_bytes_;
  std::vector<Instant> service_; ///< time of n beats

  std::array<Ring<Request>, 2> queue_;
  std::array<std::uint64_t, 2> first_arrival_{kNoChoice, kNoChoice}; ///< of those that wait
  std::array<std::uint64_t, 2> last_arrival_{0, 0};
  std::uint64_t known_until_ = 0; ///< all arrivals before this cycle are known
  Instant next_{kNoChoice, 0};    ///< time of the next choice
  bool served_any_ = false;
  Direction direction_ = Direction::kRead;
  Instant free_;                   ///< end of the last service
  Grant grant_;                    ///< the last one
  std::uint64_t batch_served_ = 0; ///< bytes served in direction_ since the other began to wait
};

} // namespace gradweave
