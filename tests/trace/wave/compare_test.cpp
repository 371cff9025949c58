// Changes of one signal: what counts as one, sampling by a clock, and where two recordings differ.
#include "tests/trace/wave/unit.hpp"
#include "trace/wave/compare.hpp"

namespace gradweave::wave {
namespace {

constexpr Window kAll{0, 100, 0};

TEST(ChangeListTest, DropsWhatIsNoChange) {
  const ChangeList list = changes({{0, "0"}, {5, "0"}, {7, "1"}});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.time(1), 7U);
}

TEST(ChangeListTest, OfAGlitchOnlyTheLastValueCounts) {
  const ChangeList list = changes({{0, "0"}, {5, "1"}, {5, "0"}, {6, "1"}, {6, "0"}, {6, "1"}});
  ASSERT_EQ(list.size(), 2U) << "the glitch at 5 goes back to the value before, so nothing changes there";
  EXPECT_EQ(list.time(1), 6U);
  EXPECT_EQ(list.value(1), "1");
}

TEST(ChangeListTest, KeepsValuesOfAnyLength) {
  const ChangeList list = changes({{0, ""}, {1, "long text"}, {2, "x"}});
  EXPECT_EQ(list.value(0), "");
  EXPECT_EQ(list.value(1), "long text");
  EXPECT_EQ(list.value(2), "x");
}

TEST(SampleTest, TakesTheValueBeforeTheEdge) {
  const ChangeList clock = changes({{0, "0"}, {5, "1"}, {7, "0"}, {15, "1"}, {17, "x"}, {25, "1"}});
  const auto edges = rising_edges(clock);
  EXPECT_EQ(edges, (std::vector<std::uint64_t>{5, 15, 25}));
  const ChangeList sampled = sample(changes({{0, "a"}, {5, "b"}, {14, "c"}, {16, "d"}}), edges);
  ASSERT_EQ(sampled.size(), 3U) << "b is over before an edge sees it";
  EXPECT_EQ(sampled.time(0), 0U);
  EXPECT_EQ(sampled.value(1), "c");
  EXPECT_EQ(sampled.time(1), 1U);
  EXPECT_EQ(sampled.value(2), "d");
  EXPECT_EQ(sampled.time(2), 2U);
}

TEST(CompareTest, EqualSignalsDoNotDiffer) {
  const ChangeList a = changes({{0, "0"}, {5, "1"}, {9, "0"}});
  EXPECT_EQ(compare(a, a, kAll).intervals, 0U);
}

TEST(CompareTest, ADelayIsTwoIntervals) {
  const SignalDifference d =
      compare(changes({{0, "0"}, {5, "1"}, {9, "0"}}), changes({{0, "0"}, {6, "1"}, {10, "0"}}), kAll);
  EXPECT_EQ(d.intervals, 2U);
  EXPECT_EQ(d.first, 5U);
  EXPECT_EQ(d.last, 9U);
  EXPECT_EQ(d.a, "1");
  EXPECT_EQ(d.b, "0");
  EXPECT_EQ(d.a_changes, 2U);
}

TEST(CompareTest, ADifferenceThatStaysLastsToTheEnd) {
  const SignalDifference d = compare(changes({{0, "0"}, {5, "1"}}), changes({{0, "0"}}), kAll);
  EXPECT_EQ(d.intervals, 1U);
  EXPECT_EQ(d.last, 100U);
}

TEST(CompareTest, TheWindowHidesWhatIsOutside) {
  const ChangeList a = changes({{0, "0"}, {5, "1"}, {6, "0"}, {50, "1"}}), b = changes({{0, "0"}, {50, "1"}});
  EXPECT_EQ(compare(a, b, {6, 100, 0}).intervals, 0U);
  EXPECT_EQ(compare(a, b, {0, 4, 0}).intervals, 0U);
  EXPECT_EQ(compare(a, b, {0, 5, 0}).intervals, 1U) << "both ends belong to the window";
  EXPECT_EQ(compare(a, b, {5, 5, 0}).first, 5U);
}

TEST(CompareTest, AnOffsetMovesTheSecondSide) {
  const ChangeList a = changes({{0, "0"}, {5, "1"}}), b = changes({{0, "0"}, {12, "1"}});
  EXPECT_EQ(compare(a, b, {0, 90, 7}).intervals, 0U);
  EXPECT_EQ(compare(b, a, {7, 90, -7}).intervals, 0U);
  EXPECT_EQ(compare(a, b, {0, 90, 6}).first, 5U);
}

TEST(CompareTest, NoValueYetDiffersFromOne) {
  const SignalDifference d = compare(changes({{3, "1"}}), changes({{0, "1"}}), kAll);
  EXPECT_EQ(d.first, 0U);
  EXPECT_EQ(d.last, 2U);
  EXPECT_EQ(d.a, "");
}

TEST(CompareTest, UnknownBitsDifferUnlessIgnored) {
  const ChangeList a = changes({{0, "1x0z"}}), b = changes({{0, "1101"}}), c = changes({{0, "0101"}});
  EXPECT_EQ(compare(a, b, kAll).intervals, 1U);
  EXPECT_EQ(compare(a, b, kAll, {true}).intervals, 0U);
  EXPECT_EQ(compare(a, c, kAll, {true}).intervals, 1U) << "the first bit is known on both sides";
  EXPECT_EQ(compare(a, changes({{0, "1x0"}}), kAll, {true}).intervals, 1U) << "length still counts";
}

TEST(CompareTest, EmptyListsAreEqual) { EXPECT_EQ(compare({}, {}, kAll).intervals, 0U); }

} // namespace
} // namespace gradweave::wave
