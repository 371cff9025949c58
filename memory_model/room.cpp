#include "memory_model/room.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::memory_model {

Room::Room(std::vector<std::uint64_t> free)
    : free_(std::move(free)), least_((free_.size() + kBlock - 1) / kBlock), taken_(least_.size()) {
  for (std::uint32_t block = 0; block < least_.size(); ++block)
    find_least(block);
}

void Room::find_least(std::uint32_t block) {
  const auto begin = free_.begin() + std::size_t{block} * kBlock;
  const auto end = std::min(begin + kBlock, free_.end());
  least_[block] = *std::min_element(begin, end) - taken_[block];
}

template <typename Part, typename Whole>
bool Room::for_blocks(std::uint32_t from, std::uint32_t to, Part part, Whole whole) {
  while (from < to) {
    const std::uint32_t block = from / kBlock, end = std::min(to, (block + 1) * kBlock);
    if (!(end - from == kBlock ? whole(block) : part(from, end))) return false;
    from = end;
  }
  return true;
}

bool Room::has(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const {
  return for_blocks(
      from, to,
      [&](std::uint32_t place, std::uint32_t end) {
        if (least_[place / kBlock] >= bytes) return true;
        const std::uint64_t needed = bytes + taken_[place / kBlock];
        return std::all_of(free_.begin() + place, free_.begin() + end,
                           [needed](std::uint64_t free) { return free >= needed; });
      },
      [&](std::uint32_t block) { return least_[block] >= bytes; });
}

void Room::take(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  for_blocks(
      from, to,
      [&](std::uint32_t place, std::uint32_t end) {
        std::for_each(free_.begin() + place, free_.begin() + end, [bytes](std::uint64_t &free) { free -= bytes; });
        find_least(place / kBlock);
        return true;
      },
      [&](std::uint32_t block) {
        taken_[block] += bytes;
        least_[block] -= bytes;
        return true;
      });
}

} // namespace gradweave::memory_model
