// The DRAM channel with queues in front, for callers that go from cycle to cycle.
//
// Causality: a choice at time t, within cycle floor(t), uses only requests that arrived in cycle floor(t) or before.
// advance(c) therefore makes every choice with floor(t) <= c once all arrivals up to and including cycle c are known,
// and calling it every cycle, or only at cycles where something happens, gives the same grants.
#pragma once

#include "sw_models/memory/dram_channel.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace gradweave {

class DramTiming {
public:
  using Direction = DramChannel::Direction;
  static constexpr std::uint64_t kNoChoice = DramChannel::kNone;

  /// A burst whose service is fixed.
  struct Grant {
    Direction direction = Direction::kRead;
    std::uint32_t id = 0; ///< as given to push()
    std::uint32_t accesses = 0;
    DramChannel::Instant start, end;
  };

  /// As DramChannel's.
  DramTiming(const MemoryConfig &config, std::uint32_t bus_bytes) : channel_(config, bus_bytes) {}

  /// Adds a burst of `accesses` (1 to those of AXI4's longest) that arrives in `cycle`. Throws std::logic_error if
  /// `cycle` lies before an earlier arrival of that direction, or is not later than a cycle given to advance().
  void push(Direction direction, std::uint64_t cycle, std::uint32_t accesses, std::uint32_t id);

  /// Makes the next choice if it falls into cycle `cycle` or before; call until it returns nothing. The caller promises
  /// that all arrivals up to and including `cycle` have been pushed.
  std::optional<Grant> advance(std::uint64_t cycle);

  /// The cycle of the next choice, given the requests pushed so far; kNoChoice if none waits. A later push may bring it
  /// forward. An event-driven caller need not call advance() for an earlier cycle.
  std::uint64_t next_choice_cycle() const { return channel_.next_choice(first()).cycle; }

  /// Cycle in which a beat of a granted read is available; `access`: the last, from 0, that it needs.
  std::uint64_t read_beat_cycle(const Grant &grant, std::uint32_t access) const {
    return channel_.read_beat_cycle(grant.start, access);
  }
  /// Cycle in which the response of a granted write is available.
  std::uint64_t write_response_cycle(const Grant &grant) const { return channel_.answer_cycle(grant.end); }

  /// Requests that wait, both directions.
  std::size_t waiting() const { return queue_[0].size() + queue_[1].size(); }
  std::uint32_t access_bytes() const { return channel_.access_bytes(); }
  std::uint64_t ticks_per_cycle() const { return channel_.ticks_per_cycle(); }

private:
  struct Request {
    std::uint64_t arrival;
    std::uint32_t id, accesses;
  };

  DramChannel::Waiting first() const {
    const auto of = [](const std::deque<Request> &q) { return q.empty() ? DramChannel::kNone : q.front().arrival; };
    return {of(queue_[0]), of(queue_[1])};
  }

  DramChannel channel_;
  std::array<std::deque<Request>, 2> queue_;
  std::array<std::uint64_t, 2> last_arrival_{0, 0};
  std::uint64_t known_until_ = 0; ///< all arrivals before this cycle are known
};

} // namespace gradweave
