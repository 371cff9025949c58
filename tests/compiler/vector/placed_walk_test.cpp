// In which order jobs of walks over several places may come.
#include "compiler/vector/placed_walk.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

/// A walk over three lines of four pixels with two channels: reads value 0 and writes value 1, from the given elements
/// on in its first place, `apart` elements further in each next one.
PlacedWalk lines(std::size_t read, std::size_t written, std::size_t apart = 8) {
  PlacedWalk w;
  w.walk.lanes = {2, {1, 1}};
  w.walk.steps = {4, {2, 2}};
  w.walk.elementwise = true;
  for (std::size_t place = 0; place < 3; ++place)
    w.walk.firsts.push_back({read + place * apart, written + place * apart});
  w.values = {0, 1};
  w.operands = 1;
  return w;
}

TEST(PlacedWalk, GoesWithAnotherThatReadsTheSamePlace) {
  PlacedWalk reader = lines(0, 0);
  reader.values = {1, 2};
  EXPECT_TRUE(go_place_by_place(lines(0, 0), reader));
  EXPECT_TRUE(go_place_by_place(lines(0, 0), lines(8, 0))) << "what both only read may lie anywhere";
}

TEST(PlacedWalk, WaitsForWhatIsWrittenElsewhere) {
  PlacedWalk before = lines(0, 0), next = lines(8, 0), last = lines(4, 0);
  next.values = last.values = {1, 2};
  EXPECT_FALSE(go_place_by_place(before, next)) << "reads the next line";
  EXPECT_FALSE(go_place_by_place(before, last)) << "reads half of it";
  EXPECT_FALSE(go_place_by_place(next, before)) << "is read before it is written";
  EXPECT_FALSE(go_place_by_place(before, lines(0, 4))) << "writes half of the next line";
}

TEST(PlacedWalk, GoesWithWalksOfItsSizeAlone) {
  PlacedWalk fewer = lines(0, 0), shorter = lines(0, 0), narrower = lines(0, 0), chain = lines(0, 0);
  fewer.walk.firsts.pop_back();
  shorter.walk.steps.count = 3;
  narrower.walk.lanes.count = 1;
  chain.walk.elementwise = false;
  for (const PlacedWalk &other : {fewer, shorter, narrower, chain})
    EXPECT_FALSE(go_place_by_place(lines(0, 0), other));
}

} // namespace
} // namespace gradweave::compiler
