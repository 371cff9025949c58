// The slot cache against plain lists that do the same slowly.
#include "compiler/paper/slot_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace gradweave::compiler::paper {
namespace {

constexpr std::uint32_t kNever = ~std::uint32_t{0};

/// Residents, the first to go in front.
class Reference {
public:
  Reference(Replacement replacement, std::uint32_t kept) : replacement_(replacement), kept_(kept) {}

  /// Whether the tile was resident; it is afterwards.
  bool touch(std::uint32_t tile, const std::vector<std::uint32_t> &uses, std::size_t now) {
    const auto at = std::find(tiles_.begin(), tiles_.end(), tile);
    const bool hit = at != tiles_.end();
    if (hit && replacement_ == Replacement::kFifo) return true;
    if (hit && replacement_ != Replacement::kHalves) tiles_.erase(at);
    if (hit && replacement_ == Replacement::kHalves) return true;
    if (!hit && tiles_.size() == kept_) {
      if (replacement_ == Replacement::kHalves)
        tiles_.clear();
      else if (replacement_ == Replacement::kBelady)
        tiles_.erase(farthest(uses, now));
      else
        tiles_.pop_front();
    }
    tiles_.push_back(tile);
    return hit;
  }

private:
  std::deque<std::uint32_t>::iterator farthest(const std::vector<std::uint32_t> &uses, std::size_t now) {
    return std::max_element(tiles_.begin(), tiles_.end(), [&](std::uint32_t x, std::uint32_t y) {
      const auto next = [&](std::uint32_t tile) {
        return std::find(uses.begin() + static_cast<std::ptrdiff_t>(now), uses.end(), tile);
      };
      return next(x) < next(y);
    });
  }

  Replacement replacement_;
  std::uint32_t kept_;
  std::deque<std::uint32_t> tiles_;
};

std::uint32_t next_use(const std::vector<std::uint32_t> &uses, std::size_t now) {
  const auto it = std::find(uses.begin() + static_cast<std::ptrdiff_t>(now) + 1, uses.end(), uses[now]);
  return it == uses.end() ? kNever : static_cast<std::uint32_t>(it - uses.begin());
}

class EveryReplacement : public testing::TestWithParam<Replacement> {};

TEST_P(EveryReplacement, HitsAndMissesLikeAPlainList) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 rng(seed);
    const auto tiles = static_cast<std::uint32_t>(3 + rng() % 30), slots = static_cast<std::uint32_t>(2 + rng() % 20);
    const auto kept = static_cast<std::uint32_t>(1 + rng() % (slots - 1));
    std::vector<std::uint32_t> uses;
    for (std::size_t i = 0; i < 400; ++i) // walks with jumps, as loops make them
      uses.push_back(i == 0 || rng() % 8 == 0 ? static_cast<std::uint32_t>(rng() % tiles) : (uses.back() + 1) % tiles);
    SlotCache cache(GetParam(), tiles, slots, kept, 1 + static_cast<unsigned>(rng() % 2));
    Reference reference(GetParam(), kept);
    std::vector<SlotCache::GivenUp> given_up;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const bool hit = cache.slot(uses[i]) >= 0;
      ASSERT_EQ(hit, reference.touch(uses[i], uses, i)) << fmt::format("seed {} use {}", seed, i);
      if (!hit) {
        cache.make_room(1, {}, given_up);
        cache.insert(uses[i], 0);
      }
      cache.use(uses[i], next_use(uses, i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cache, EveryReplacement,
                         testing::Values(Replacement::kHalves, Replacement::kFifo, Replacement::kLru,
                                         Replacement::kBelady));

TEST(SlotCache, SparesWhatTheProductNeeds) {
  SlotCache cache(Replacement::kLru, 4, 4, 2, 1);
  std::vector<SlotCache::GivenUp> given_up;
  cache.insert(0, 0);
  cache.insert(1, 0);
  cache.make_room(1, {0}, given_up);
  ASSERT_EQ(given_up.size(), 1U);
  EXPECT_EQ(given_up[0].tile, 1U);
  EXPECT_GE(cache.slot(0), 0);
  EXPECT_EQ(cache.slot(1), SlotCache::kNone);
}

TEST(SlotCache, ReusesASlotAfterAllThatWereGivenUpBefore) {
  SlotCache cache(Replacement::kLru, 10, 6, 3, 1);
  std::vector<SlotCache::GivenUp> given_up;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t tile = 0; tile < 10; ++tile) {
    cache.make_room(1, {}, given_up);
    slots.push_back(cache.insert(tile, 0));
  }
  for (std::size_t i = 6; i < slots.size(); ++i)
    EXPECT_EQ(slots[i], slots[i - 6]);
}

TEST(SlotCache, ColoursAreTheHalvesWhileThereAreSlots) {
  SlotCache cache(Replacement::kLru, 8, 8, 7, 2);
  EXPECT_LT(cache.insert(0, 0), 4U);
  EXPECT_GE(cache.insert(1, 1), 4U);
  for (std::uint32_t tile = 2; tile < 5; ++tile)
    EXPECT_LT(cache.insert(tile, 0), 4U);
  EXPECT_GE(cache.insert(5, 0), 4U) << "the lower half is full";
}

} // namespace
} // namespace gradweave::compiler::paper
