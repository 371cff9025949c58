// The scratchpad of Flexer: each rule by a small case worked out by hand.
#include "compiler/flexer/block_map.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace gradweave::compiler::flexer {
namespace {

/// "4:10 2:- 4:11": rows and tile of each block.
std::string text_of(const BlockMap &map) {
  std::string text;
  for (const BlockMap::Block &b : map.blocks())
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", b.rows.rows, b.tile < 0 ? "-" : fmt::format("{}", b.tile));
  return text;
}

class Map : public testing::Test {
protected:
  /// Tile `i` is still read so often.
  void use(const std::vector<std::uint32_t> &remaining) {
    uses.remaining = remaining;
    uses.pinned.assign(remaining.size(), 0);
    uses.set = 1;
  }
  void pin(std::size_t tile) { uses.pinned[tile] = 1; }
  std::string place(std::int32_t tile, std::uint32_t rows) {
    const auto row = map.place(tile, rows, policy, uses, lost);
    return row ? fmt::format("{}", *row) : "none";
  }

  BlockMap map{20};
  Policy policy;
  TileUses uses;
  std::vector<std::int32_t> lost;
};

TEST_F(Map, ADeadBlockOfTheSizeIsReplacedBeforeAnythingElse) {
  use({1, 0, 1, 1});
  map.put(0, {0, 4});
  map.put(1, {8, 6}); // dead
  EXPECT_EQ(place(2, 6), "8") << "though rows 4 to 8 and 14 to 20 are free, too";
  EXPECT_EQ(text_of(map), "4:0 4:- 6:2 6:-");
  EXPECT_TRUE(lost.empty());
}

TEST_F(Map, TheSmallestOpenStretchThatIsLargeEnoughIsTaken) {
  use({1, 1, 0, 1, 1});
  map.put(0, {8, 2});
  map.put(1, {14, 2}); // open: 8, 4 and 4 rows
  EXPECT_EQ(place(3, 4), "10");
  EXPECT_EQ(place(4, 2), "16");
  EXPECT_EQ(text_of(map), "8:- 2:0 4:3 2:1 2:4 2:-");
}

TEST_F(Map, DeadNeighboursAreOneStretch) {
  use({0, 0, 1, 1});
  map.put(0, {0, 4});
  map.put(1, {4, 4});
  map.put(2, {8, 12});
  EXPECT_EQ(place(3, 6), "0");
  EXPECT_EQ(text_of(map), "6:3 2:- 12:2");
  EXPECT_TRUE(lost.empty()) << "none of them is read again";
}

TEST_F(Map, Algorithm2LeavesTheSmallestGapFirst) {
  use({9, 1, 1, 5});
  map.put(0, {0, 6});
  map.put(1, {6, 8});
  map.put(2, {14, 6});
  EXPECT_EQ(place(3, 6), "14") << "of gaps of 0, 2 and 0 rows those of 0, and of these the one of fewer uses";
  EXPECT_EQ(lost, (std::vector<std::int32_t>{2}));
}

TEST_F(Map, Algorithm2TakesALiveBlockOfTheSizeBeforeACheaperOneThatLeavesAGap) {
  use({9, 1, 5});
  map.put(0, {0, 8});
  map.put(1, {8, 12});
  EXPECT_EQ(place(2, 8), "0");
  EXPECT_EQ(lost, (std::vector<std::int32_t>{0}));
}

TEST_F(Map, Algorithm2PrefersFewerBlocksAtEqualGapsAndUses) {
  use({1, 1, 1, 1, 1});
  map.put(0, {0, 4});
  map.put(1, {4, 4});
  map.put(2, {8, 8});
  map.put(3, {16, 4});
  EXPECT_EQ(place(4, 8), "8");
  EXPECT_EQ(lost, (std::vector<std::int32_t>{2}));
}

TEST_F(Map, WhatTheSetAtHandNeedsStays) {
  use({1, 1, 5});
  map.put(0, {0, 10});
  map.put(1, {10, 10});
  pin(0);
  EXPECT_EQ(place(2, 10), "10");
  pin(2);
  EXPECT_EQ(place(1, 2), "none");
  EXPECT_EQ(text_of(map), "10:0 10:2");
}

TEST_F(Map, GapsBelongToARunOfVictimsOrEndIt) {
  use({1, 1, 1});
  map.put(0, {0, 6});
  map.put(1, {10, 6}); // four rows are free between, and behind
  BlockMap before = map;
  EXPECT_EQ(place(2, 16), "0");
  map = before;
  policy.gaps_count = false;
  EXPECT_EQ(place(2, 16), "none");
  EXPECT_EQ(text_of(map), text_of(before));
}

TEST_F(Map, FirstFitTakesTheFirstBlockThatIsLargeEnough) {
  use({9, 1, 5});
  map.put(0, {0, 12});
  map.put(1, {12, 8});
  policy.victims = Victims::kFirstFit;
  EXPECT_EQ(place(2, 8), "0") << "though the second fits";
  EXPECT_EQ(text_of(map), "8:2 4:- 8:1");
}

TEST_F(Map, SmallSpillFreesTheSmallestUntilThereIsRoom) {
  use({1, 1, 1, 1, 5});
  map.put(0, {0, 2});
  map.put(1, {2, 8});
  map.put(2, {10, 4});
  map.put(3, {14, 6});
  policy.victims = Victims::kSmallest;
  EXPECT_EQ(place(4, 8), "10") << "tiles of 2, of 4 and of 6 rows went, and the last two are neighbours";
  EXPECT_EQ(lost, (std::vector<std::int32_t>{0, 2, 3}));
  pin(1);
  pin(4);
  const std::string before = text_of(map);
  EXPECT_EQ(place(0, 20), "none");
  EXPECT_EQ(text_of(map), before);
}

TEST(Policy, IsGivenByNames) {
  const Policy p = parse_policy("priority=min_transfer,victims=first_fit,weight=multiplied,metric=latency,gaps=end");
  EXPECT_EQ(to_string(p), "priority=min_transfer,victims=first_fit,weight=multiplied,metric=latency,gaps=end");
  EXPECT_EQ(to_string(parse_policy("")),
            "priority=benefit,victims=algorithm2,weight=divided,metric=latency_data,gaps=count");
}

std::string refusal(std::string_view text) {
  try {
    parse_policy(text);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

TEST(Policy, WrongNamesAreToldWithTheRightOnes) {
  EXPECT_EQ(refusal("victims=lru"), "policy: unknown victims 'lru'; use one of: algorithm2, first_fit, smallest");
  const std::string names = "priority: benefit, min_transfer, min_spilling; victims: algorithm2, first_fit, smallest; "
                            "weight: divided, multiplied; metric: latency_data, latency, data; gaps: count, end";
  EXPECT_EQ(policy_names(), names);
  EXPECT_EQ(refusal("order=3"), "policy: unknown key 'order'; there are " + names);
  EXPECT_EQ(refusal("metric"), "policy: 'metric' is no key=value; there are " + names);
  EXPECT_EQ(refusal("gaps=end,gaps=end"), "policy: 'gaps' is given twice");
}

} // namespace
} // namespace gradweave::compiler::flexer
