// Room along a line of places.
#pragma once

#include <cstdint>
#include <vector>

namespace gradweave::memory_model {

/// Bytes that are free at each place, taken over stretches of places. Places are in blocks that know their least room,
/// so that long stretches cost a look at each block.
class Room {
public:
  explicit Room(std::vector<std::uint64_t> free);

  std::uint64_t at(std::uint32_t place) const { return free_[place] - taken_[place / kBlock]; }
  /// Whether there are so many bytes at each place in [from, to).
  bool has(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const;
  /// Takes them; there have to be as many.
  void take(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);

private:
  static constexpr std::uint32_t kBlock = 32;
  /// Calls part(place, end) or whole(block) for each block of [from, to); ends as soon as one returns false.
  template <typename Part, typename Whole>
  static bool for_blocks(std::uint32_t from, std::uint32_t to, Part part, Whole whole);
  void find_least(std::uint32_t block);

  std::vector<std::uint64_t> free_;
  std::vector<std::uint64_t> least_, taken_; ///< of each block: its least room, and what is taken of all its places
};

} // namespace gradweave::memory_model
