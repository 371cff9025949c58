// What links and flash of a system do wrong, and when; for tests.
#pragma once

#include <cstdint>
#include <vector>

namespace gradweave {

/// All off by default.
struct SystemFaults {
  struct Packet {
    std::uint32_t device = 0; ///< that sends it
    std::uint64_t number = 0; ///< of the packets it sends, from 0, in the order in which they arrive
  };
  struct Block {
    std::uint32_t device = 0;
    std::uint64_t number = 0; ///< of its flash
  };
  std::vector<Packet> packets;        ///< arrive with a wrong CRC
  std::vector<Block> blocks;          ///< cannot be read, nor written
  std::vector<Block> stale;           ///< keep what they hold when they are written, and say nothing
  std::uint64_t stall_seed = 0;       ///< of the following
  std::uint64_t longest_stall_ps = 0; ///< each packet waits before each line for up to so long, at random
};

} // namespace gradweave
