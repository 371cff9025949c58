#include "compiler/paper/slot_cache.hpp"

#include <algorithm>

namespace gradweave::compiler::paper {

SlotCache::SlotCache(Replacement replacement, std::uint32_t tiles, std::uint32_t slots, std::uint32_t kept,
                     unsigned colours)
    : replacement_(replacement), kept_(kept), entries_(tiles), tile_of_slot_(slots, kNone), next_use_(slots, 0),
      free_(colours, FreeList(slots)) {
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    free_of(slot).push(slot);
}

void SlotCache::unlink(std::uint32_t tile) {
  const Entry &e = entries_[tile];
  (e.older == kNone ? oldest_ : entries_[static_cast<std::size_t>(e.older)].newer) = e.newer;
  (e.newer == kNone ? newest_ : entries_[static_cast<std::size_t>(e.newer)].older) = e.older;
}

void SlotCache::append(std::uint32_t tile) {
  Entry &e = entries_[tile];
  e.older = newest_;
  e.newer = kNone;
  (newest_ == kNone ? oldest_ : entries_[static_cast<std::size_t>(newest_)].newer) = static_cast<std::int32_t>(tile);
  newest_ = static_cast<std::int32_t>(tile);
}

void SlotCache::remove(std::uint32_t tile) {
  Entry &e = entries_[tile];
  const auto slot = static_cast<std::uint32_t>(e.slot);
  unlink(tile);
  tile_of_slot_[slot] = kNone;
  free_of(slot).push(slot);
  e.slot = kNone;
  --resident_;
}

std::int32_t SlotCache::victim(const std::vector<std::uint32_t> &spared) const {
  const auto is_spared = [&](std::int32_t tile) {
    return std::find(spared.begin(), spared.end(), static_cast<std::uint32_t>(tile)) != spared.end();
  };
  if (replacement_ != Replacement::kBelady) {
    std::int32_t tile = oldest_;
    while (tile != kNone && is_spared(tile))
      tile = entries_[static_cast<std::size_t>(tile)].newer;
    return tile;
  }
  std::int32_t farthest = kNone;
  std::uint32_t distance = 0;
  for (std::size_t slot = 0; slot < tile_of_slot_.size(); ++slot) {
    const std::int32_t tile = tile_of_slot_[slot];
    if (tile == kNone || (farthest != kNone && next_use_[slot] <= distance) || is_spared(tile)) continue;
    farthest = tile;
    distance = next_use_[slot];
  }
  return farthest;
}

void SlotCache::make_room(std::uint32_t more, const std::vector<std::uint32_t> &spared,
                          std::vector<GivenUp> &given_up) {
  const auto give_up = [&](std::int32_t tile) {
    const auto index = static_cast<std::uint32_t>(tile);
    given_up.push_back({index, static_cast<std::uint32_t>(entries_[index].slot)});
    remove(index);
  };
  if (replacement_ == Replacement::kHalves) {
    if (resident_ + more > kept_)
      while (oldest_ != kNone)
        give_up(oldest_);
    return;
  }
  while (resident_ + more > kept_) {
    const std::int32_t tile = victim(spared);
    if (tile == kNone) return;
    give_up(tile);
  }
}

std::uint32_t SlotCache::insert(std::uint32_t tile, unsigned colour) {
  const std::uint32_t slot = free_[free_[colour].empty() ? 1 - colour : colour].pop();
  entries_[tile].slot = static_cast<std::int32_t>(slot);
  tile_of_slot_[slot] = static_cast<std::int32_t>(tile);
  next_use_[slot] = 0;
  append(tile);
  ++resident_;
  return slot;
}

void SlotCache::use(std::uint32_t tile, std::uint32_t next_use) {
  next_use_[static_cast<std::size_t>(entries_[tile].slot)] = next_use;
  if (replacement_ == Replacement::kFifo || newest_ == static_cast<std::int32_t>(tile)) return;
  unlink(tile);
  append(tile);
}

} // namespace gradweave::compiler::paper
