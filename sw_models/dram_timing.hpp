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

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace gradweave {

class DramTiming {
public:
  enum class Direction : std::uint8_t { kRead = 0, kWrite = 1 };

  /// A burst whose service is fixed.
  struct Grant {
    Direction direction = Direction::kRead;
    std::uint64_t id = 0; ///< as given to push()
    std::uint32_t beats = 0;
    std::uint64_t start_ticks = 0; ///< ticks of 1 / bytes_num cycle
    std::uint64_t end_ticks = 0;
  };

  /// `bus_bytes`: bytes of a beat. Throws std::invalid_argument if the bandwidth fraction or bus_bytes is zero.
  DramTiming(const DramConfig &config, std::uint32_t bus_bytes);

  /// Adds a burst of `beats` (at least 1) full bus beats that arrives in `cycle`. Throws std::logic_error if `cycle`
  /// lies before an earlier arrival of that direction, or is not later than a cycle given to advance().
  void push(Direction direction, std::uint64_t cycle, std::uint32_t beats, std::uint64_t id);

  /// Makes the next choice if it falls into cycle `cycle` or before; call until it returns nothing. The caller promises
  /// that all arrivals up to and including `cycle` have been pushed.
  std::optional<Grant> advance(std::uint64_t cycle);

  /// The cycle of the next choice, given the requests pushed so far; nothing if none waits. A later push may bring it
  /// forward. An event-driven caller need not call advance() for an earlier cycle.
  std::optional<std::uint64_t> next_choice_cycle() const;

  /// Cycle in which beat `beat` (from 0) of a granted read is available.
  std::uint64_t read_beat_cycle(const Grant &grant, std::uint32_t beat) const;
  /// Cycle in which the response of a granted write is available.
  std::uint64_t write_response_cycle(const Grant &grant) const;

  /// Requests that wait, both directions.
  std::size_t waiting() const { return queue_[0].size() + queue_[1].size(); }
  std::uint64_t ticks_per_cycle() const { return ticks_per_cycle_; }

private:
  struct Request {
    std::uint64_t arrival_ticks, id;
    std::uint32_t beats;
  };

  std::deque<Request> &queue(Direction d) { return queue_[static_cast<std::size_t>(d)]; }
  std::optional<std::uint64_t> next_choice_ticks() const;
  bool arrived(Direction d, std::uint64_t ticks) const;
  Direction choose(std::uint64_t ticks) const;
  std::uint64_t cycle_after(std::uint64_t ticks) const { return (ticks + ticks_per_cycle_ - 1) / ticks_per_cycle_; }

  std::uint64_t ticks_per_cycle_, ticks_per_beat_;
  std::uint64_t turnaround_ticks_, latency_cycles_, batch_bytes_;
  std::uint32_t bus_bytes_;

  std::array<std::deque<Request>, 2> queue_;
  std::array<std::uint64_t, 2> last_arrival_{0, 0};
  std::optional<std::uint64_t> known_until_; ///< largest cycle given to advance()
  bool served_any_ = false;
  Direction direction_ = Direction::kRead;
  std::uint64_t free_ticks_ = 0;   ///< end of the last service
  std::uint64_t batch_served_ = 0; ///< bytes served in direction_ since the other began to wait
};

} // namespace gradweave
