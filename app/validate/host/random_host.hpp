// A host that feeds a ring by dice: the tail at any time, MARKs between, pauses shorter and longer than the NPU's.
#pragma once

#include "base/random/dice.hpp"
#include "device/device.hpp"
#include "isa/command.hpp"
#include "sw_models/timing/run.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::corpus {

/// What a host did and saw in a run.
struct HostRecord {
  std::vector<isa::Command> sent;        ///< the stream with the host's MARKs in it, up to where the run ended
  std::vector<timing::HostWrite> writes; ///< cycles: those in which the NPU took them
  std::vector<std::uint64_t> times;      ///< of the device, after each call
  std::vector<timing::Mark> marks;       ///< that it took
  RunStatus status;
  std::uint32_t places = 0; ///< of the ring
  std::uint64_t wraps = 0;  ///< appends that went beyond the ring's end
  std::uint64_t waits = 0;  ///< appends that had to wait for room
};

/// Runs a stream once on a device that is ready. Of two devices with time, both get the same commands in the same
/// cycles as long as they tell the same; a host drawn by the same seed decides alike.
class RandomHost {
public:
  /// The stream lives as long as the host.
  RandomHost(Device &device, const std::vector<isa::Command> &stream, std::uint64_t seed);

  /// All of the stream in pieces, each with or without a MARK behind, then the end of the run. Throws what the device
  /// throws.
  HostRecord run();
  /// The first piece, some cycles, and a reset in the middle of what then goes on, or of the wait for more.
  void abandon();

private:
  void note() { record_.times.push_back(device_.now()); }
  bool take();
  bool make_room(std::size_t commands);
  std::vector<isa::Command> next_piece(std::size_t at);
  void append(std::vector<isa::Command> piece);
  void append_mark();
  void write_tail(const std::vector<isa::Command> &piece);
  isa::Command mark();
  bool pause();

  Device &device_;
  const std::vector<isa::Command> &stream_;
  Dice dice_;
  std::uint32_t places_;
  std::uint64_t longest_pause_;
  std::uint64_t appended_ = 0, unmarked_ = 0; ///< unmarked: those behind the last MARK
  std::uint16_t tag_ = 0;
  HostRecord record_;
};

} // namespace gradweave::corpus
