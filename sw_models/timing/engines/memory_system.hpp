// The burst level: load and store engine, command fetch's bursts, and the DRAM that serves them.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/memory/dram_channel.hpp"
#include "sw_models/timing/engines/burst_walker.hpp"
#include "sw_models/timing/engines/dma_engine.hpp"
#include "sw_models/timing/engines/progress_log.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace gradweave::timing {

/// When the words of a fetch burst are complete; cycles ascend.
struct FetchedWords {
  std::uint32_t words = 0;
  std::array<std::uint64_t, 8> cycle{};
};

class MemorySystem {
public:
  /// Counters count cycles up to and including `limit`.
  MemorySystem(const Machine &npu, std::uint32_t fetch_word_beats, std::uint64_t limit, ProgressLog &progress);

  /// LOAD, STORE or SYNC of engine `store` starts.
  void start(bool store, std::uint64_t cycle, const isa::DmaCommand &command);
  void start_sync(bool store, std::uint64_t cycle) { side(store).order.start_sync(cycle); }
  /// First cycle in which the engine can start a command; kNever if that is not known yet.
  std::uint64_t ready(bool store) const {
    const Side &s = side(store);
    return std::max(s.bursts_done, s.order.room());
  }
  std::uint64_t next_done(bool store) const { return side(store).order.next_done(); }
  void complete(bool store, std::uint64_t cycle) { side(store).order.complete(cycle); }

  /// Command fetch issues a burst of `bytes` bytes, the first of which is byte `offset` of the first beat.
  void fetch(std::uint64_t cycle, std::uint32_t offset, std::uint32_t bytes);

  /// Plays all bursts before cycle `horizon`, to which nothing else may happen. Returns early, with true, if something
  /// became known that the commands may depend on: ready(), next_done(), or fetched words.
  bool advance(std::uint64_t horizon);
  /// The run stops in `cycle`, up to which all was played: no burst is issued later; those that were are played to
  /// their end. Returns the last cycle with a handshake on the bus; 0 if there was none.
  std::uint64_t stop(std::uint64_t cycle);
  /// Words of the fetch burst that was answered since the last call; none if there was none.
  FetchedWords take_fetched();

  /// Nothing is under way, nor about to be: time alone changes nothing.
  bool idle() const { return reads_.empty() && writes_.empty() && load_.next == kNever && store_.next == kNever; }

  struct Totals {
    std::uint64_t read_beats = 0, read_bytes = 0, write_beats = 0, write_bytes = 0, fetch_beats = 0;
    /// Of the DRAM, by bursts that were issued, whatever the limit; fetch is among the reads.
    std::uint64_t read_accesses = 0, write_accesses = 0;
  };
  const Totals &totals() const { return totals_; }
  /// Bytes of an access of the DRAM.
  std::uint32_t access_bytes() const { return channel_.access_bytes(); }
  /// Whole cycles in which the DRAM served nothing, up to the last burst that it has served.
  std::uint64_t idle_cycles() const { return channel_.idle_cycles(); }
  /// Last cycle with a handshake on the bus, if no burst is under way; 0 if there was none.
  std::uint64_t last_handshake() const {
    const std::uint64_t free = std::max(read_channel_, response_channel_);
    return free - (free > 0);
  }

private:
  struct Side {
    explicit Side(std::uint32_t outstanding) : credits(outstanding) {}
    DmaOrder order;
    BurstCredits credits;
    BurstWalker bursts;
    /// Cycle in which the next burst is issued (store) or, issued before, offered to the read mux (load); kNever: there
    /// is none, or that is not known yet.
    std::uint64_t next = kNever;
    std::uint64_t issued = 0;      ///< the cycle in which that burst is issued
    std::uint64_t earliest = 0;    ///< the next burst may be issued from here on, credits apart
    std::uint64_t bursts_done = 0; ///< the next command can start, its order apart; kNever: bursts are left
    // Only if every beat matters: the bursts once more, at the pace at which they are answered.
    std::deque<isa::DmaCommand> counted;
    BurstWalker replay;
  };
  using Pace = DramChannel::Pace;
  /// Bursts alike that wait for the DRAM.
  struct Request {
    Pace arrivals; ///< in the cycles in which, or before which, the times begin
    std::uint64_t count = 1;
    BurstSize size;
    bool fetch = false;
    bool last = false; ///< the last one is its command's
  };

  Side &side(bool store) { return store ? store_ : load_; }
  const Side &side(bool store) const { return store ? store_ : load_; }
  static std::uint64_t first_arrival(const Ring<Request> &queue) {
    return queue.empty() ? DramChannel::kNone : queue.front().arrivals.first.ceil();
  }
  DramChannel::Waiting waiting() const { return {first_arrival(reads_), first_arrival(writes_)}; }

  bool plan(Side &side, std::uint64_t issue_to_event);
  std::uint32_t count(Side &side, std::uint32_t beats);
  bool offer_load();
  void offer_rows(std::uint64_t until);
  Pace issue_pace(Side &side, std::uint64_t issue, std::uint64_t &most) const;
  bool offer_loads(std::uint64_t until);
  bool issue_store();
  void issue_rows(std::uint64_t until);
  bool issue_stores(std::uint64_t until);
  bool take(Ring<Request> &queue, std::uint64_t bursts) const;
  std::uint64_t there(Ring<Request> &queue, const BurstSize &size) const;
  std::uint64_t serve_more(bool store, const BurstSize &size, std::uint64_t horizon);
  std::uint64_t answer_of(const BurstSize &size, bool store, const DramChannel::Service &service) const;
  bool serve(const DramChannel::Waiting &first, std::uint64_t horizon);
  bool answer_loads(std::uint64_t last_beat, bool last);
  bool answer_fetch(const BurstSize &size, const DramChannel::Service &service);
  bool answer_stores(std::uint64_t response, bool last);
  std::uint32_t last_access(const BurstSize &size, std::uint32_t beat) const;
  std::uint64_t beat_cycle(const BurstSize &size, const DramChannel::Service &service, std::uint32_t beat) const;
  std::uint32_t follow_beats(const BurstSize &size, const DramChannel::Service &service) const;

  DramChannel channel_;
  std::uint64_t limit_, latency_;
  ProgressLog &progress_;
  bool every_beat_; ///< matters: there is a limit or a log
  bool alike_;      ///< bursts alike may be served in one step
  std::uint32_t bus_bytes_, fetch_word_beats_;
  Granules granules_;
  Side load_, store_;
  Ring<Request> reads_, writes_;
  std::uint64_t fetch_in_mux_ = kNever; ///< cycle in which the read mux takes a fetch burst
  std::optional<BurstSize> held_;       ///< last burst of a LOAD that the mux had not taken when the next LOAD started
  // First cycle that is free for
  std::uint64_t read_channel_ = 0;     ///< a read beat
  std::uint64_t store_read_ = 0;       ///< the store engine's read of the scratchpad
  std::uint64_t response_channel_ = 0; ///< a write response
  FetchedWords fetched_;
  Totals totals_;
};

} // namespace gradweave::timing
