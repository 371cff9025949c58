// Timing of links, flash and processors, and of the device memories behind them: which packet is where at what time.
//
// The SystemC testbench and the whole system's timing model link this class, as both do DramChannel. It goes from event
// to event, in whole picoseconds, and has no clock and no random part of its own.
//
// Rules
//   Parts    A move is cut into packets of at most packet_bytes, the smaller of those of its two links; a read of flash
//            into blocks. Parts are numbered in ascending addresses.
//   Edge     What comes to a device at time t is seen at its first clock edge later than t. Edges are at multiples of
//            its period from the begin of the plan.
//   Memory   Each device's memory serves transfers as DramChannel does, an access of a part as one burst; that its NPU
//            does not use it meanwhile is the plan's matter. All reads of a move arrive at the edge behind its begin, a
//            write at the edge behind the part's arrival.
//   Link     A part whose data have been read goes through the sender's link, through its port and through that of the
//            receiver if these two are not the same, and through the receiver's link. Each direction of each takes
//            parts in the order in which they arrive (at one time: by the plan's order, then by number), and is held by
//            each for LinkConfig::packet_ps() of its data and the sender's overhead; a link's latency follows.
//   Flash    All blocks of a read are asked for at its begin. A channel serves them in that order, read_ps and the
//            bytes' time each.
//   Program  What is written to flash is read from memory as a move is. A block whose bytes have been read goes to its
//            channel, which it holds for the bytes' time and program_ps. That is all of it: erased blocks are at hand,
//            and what collects them costs nothing.
//   Process  A processor's command holds its device for ProcessorConfig::command_ps(); that its accesses fit into the
//            memory's bandwidth is the file's matter.
//   End      A part is written when the memory responds to its write, or the channel has programmed it. The transfer
//            ends with the last of them.
#pragma once

#include "sw_models/memory/dram_timing.hpp"
#include "sw_models/system/system_plan.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace gradweave {

class Fabric {
public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  /// Picoseconds that a part of a move waits longer before it goes through the next line: what is moved must not depend
  /// on it.
  using Stall = std::function<std::uint64_t(CommandId)>;

  /// `plan` outlives this.
  explicit Fabric(const SystemPlan &plan, Stall stall = {});

  /// Begins a command of the plan that is no stream at `now`, which is not before an event played.
  void start(CommandId id, std::uint64_t now);

  /// Time of the next event; kNever if there is none.
  std::uint64_t next_event() const;

  /// Something that happened to a part.
  struct Happening {
    enum class What : std::uint8_t {
      kRead,    ///< it left the memory or flash; not of a processor's command
      kWritten, ///< it is in the memory, or in flash
      kEnded,   ///< so was the last one of the transfer
    };
    What what{};
    CommandId id = 0;
    std::uint64_t offset = 0; ///< of the part's first byte in the transfer
    std::uint32_t bytes = 0;
  };
  /// Plays the events of one time, next_event(). The happenings are valid until the next call.
  const std::vector<Happening> &play(std::uint64_t now);

  /// Picoseconds that a device's link was held, to it and from it; and its flash's channels, together.
  std::uint64_t link_busy_ps(std::uint32_t device) const {
    return lines_[2 * device].busy + lines_[2 * device + 1].busy;
  }
  std::uint64_t flash_busy_ps(std::uint32_t device) const { return flashes_[device].busy; }

private:
  /// One direction of a link or port.
  struct Line {
    double bandwidth_gb_s = 0;
    std::uint64_t latency_ps = 0;
    std::uint64_t free = 0, busy = 0;
  };
  struct Memory {
    DramTiming dram;
    std::uint64_t period_ps;
    std::vector<std::uint64_t> parts; ///< what ids of bursts stand for: transfer and number
  };
  struct Channels {
    std::vector<std::uint64_t> free;
    std::uint64_t busy = 0;
  };
  struct Transfer {
    std::uint32_t part_bytes = 0, parts = 0, written = 0;
    std::vector<std::uint32_t> path; ///< lines
  };
  struct Event {
    std::uint64_t time;
    CommandId id;
    std::uint32_t part;
    std::uint32_t stage; ///< lines that it is through, or one of the following
    bool operator>(const Event &o) const {
      if (time != o.time) return time > o.time;
      return id != o.id ? id > o.id : part > o.part;
    }
  };

  std::uint32_t bytes_of(CommandId id, std::uint32_t part) const;
  std::vector<std::uint32_t> path_of(const SystemCommand &command) const;
  void ask_memory(std::uint32_t device, DramTiming::Direction direction, CommandId id, std::uint32_t part,
                  std::uint64_t now);
  void ask_flash(CommandId id, std::uint64_t now);
  const FlashConfig &flash_of(CommandId id) const;
  /// The time at which a block's channel is done with it.
  std::uint64_t hold_channel(CommandId id, std::uint32_t part, std::uint64_t latency_ps, std::uint64_t now);
  void arrive(const Event &event);
  void serve_memory(std::uint32_t device, std::uint64_t now);
  std::uint64_t choice_time(const Memory &memory) const;

  const SystemPlan &plan_;
  Stall stall_;
  std::vector<Line> lines_; ///< of each device: from it, to it; then of each port: out of its group, into it
  std::vector<Memory> memories_;
  std::vector<Channels> flashes_; ///< of each device
  std::vector<Transfer> transfers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Happening> happened_;
};

} // namespace gradweave
