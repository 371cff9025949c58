// Command fetch and dispatch (rtl/cmd/gw_cmd_fetch.sv, gw_cmd_dispatch.sv).
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/timing/engines/command_times.hpp"
#include "sw_models/timing/engines/dma_engine.hpp"
#include "sw_models/timing/engines/latencies.hpp"
#include "sw_models/timing/engines/memory_system.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::timing {

/// Asks for the stream in bursts that end at multiples of 512 bytes, or of a beat if that is more, when its buffer has
/// room for a whole one, and says when each command can be checked.
class CommandFetch {
public:
  CommandFetch(std::uint32_t bus_bytes, std::uint64_t stream_addr, std::uint64_t commands);

  /// Beats of a word: of a command or of a beat, whichever is larger.
  std::uint32_t word_beats() const { return word_beats_; }
  /// Cycle of the next burst; kNever if there is none or that depends on commands still in the buffer.
  std::uint64_t next_burst() const { return next_burst_; }
  struct Burst {
    std::uint32_t offset, bytes; ///< of the commands: where they begin in the first beat, and how many
  };
  /// Issues that burst.
  Burst issue(std::uint64_t cycle);
  /// Words of a burst that arrive, in order; none: nothing happens.
  void receive(const FetchedWords &words);
  /// Cycle in which the command (the next to be moved) can be checked at the earliest; kNever if it is not known yet.
  std::uint64_t available(std::uint64_t command) const {
    return command < received_ ? available_[command % available_.size()] : kNever;
  }
  /// The tail rises to `commands` in this cycle, up to which all was played.
  void raise(std::uint64_t commands, std::uint64_t cycle);
  /// Commands of words that were complete before the cycle, which is none before the last that was played.
  std::uint64_t received_before(std::uint64_t cycle) const;
  /// Dispatch moves the next command to its queue.
  void moved(std::uint64_t cycle);

  /// Cycles in which nothing was under way for want of room, and in which all was there, if the last cycle is `end`.
  std::uint64_t blocked_cycles(std::uint64_t end) const;
  std::uint64_t done_cycles(std::uint64_t end) const;

private:
  static constexpr std::uint32_t kLeastBurst = 8; ///< commands; two bursts fill the buffer

  std::uint32_t slot_of(std::uint64_t command) const { return (first_slot_ + command) % word_commands_; }
  void plan();

  std::uint32_t word_commands_, word_beats_, most_commands_; ///< the latter: of a burst
  std::uint32_t first_slot_, first_in_burst_;
  std::uint64_t commands_;
  std::uint64_t requested_ = 0, received_ = 0, moved_ = 0; ///< commands
  std::uint32_t free_words_;
  std::uint64_t next_burst_ = kNever, not_before_ = latency::kRunToFetch;
  std::uint32_t burst_commands_ = 0, burst_words_ = 0; ///< of the next burst
  std::uint64_t last_data_ = 0;                        ///< cycle of the last word received
  std::uint64_t idle_to_ = 0;                          ///< cycle in which the tail rose last after all was there
  std::uint64_t blocked_ = 0, done_ = 0;
  Ring<std::uint64_t> open_ends_, held_ends_; ///< commands up to the end of each burst: not yet received; not yet moved
  std::vector<std::uint64_t> available_;      ///< of the commands in the buffer, by number
};

} // namespace gradweave::timing
