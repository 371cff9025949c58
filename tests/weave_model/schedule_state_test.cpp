// Schedules small enough to be computed by hand; a byte takes a second.
#include "weave_model/schedule_state.hpp"

#include <gtest/gtest.h>

namespace gradweave::weave_model {
namespace {

Effect append(ScheduleState &state, const Layer &layer) {
  const Effect effect = state.effect_of(layer);
  state.append(layer, effect);
  return effect;
}

TEST(ScheduleState, TheFirstLayerIsFetchedThenComputed) {
  ScheduleState state({10, 1});
  const Effect e = append(state, {5, 4});
  EXPECT_EQ(e.fetched, 4);
  EXPECT_EQ(e.compute_begin, 4);
  EXPECT_EQ(e.computed, 9);
  EXPECT_EQ(e.compute_idle, 4);
  EXPECT_EQ(e.memory_idle, 0);
  ASSERT_EQ(state.resident().size(), 1U);
  EXPECT_EQ(state.resident()[0].completion, 9);
  EXPECT_EQ(state.occupied(), 4U);
}

// Figure 10 (a): there is room.
TEST(ScheduleState, AFetchThatFitsFollowsTheLastOne) {
  ScheduleState state({10, 1});
  append(state, {5, 4});
  const Effect e = append(state, {1, 6});
  EXPECT_EQ(e.fetch_begin, 4);
  EXPECT_EQ(e.fetched, 10);
  EXPECT_EQ(e.memory_idle, 0);
  EXPECT_EQ(e.compute_idle, 1); // the layer before is done at 9
  EXPECT_EQ(state.occupied(), 6U) << "the first one completed by 10";
}

// Figure 10 (b): two bytes have room, then the fetch waits for the first layer, from 6 to 10.
TEST(ScheduleState, AFetchThatDoesNotFitWaitsForLayersToComplete) {
  ScheduleState state({10, 1});
  append(state, {6, 4}); // fetched 4, computed 10
  append(state, {5, 4}); // fetched 8, computed 15
  const Effect e = append(state, {1, 5});
  EXPECT_EQ(e.fetched, 13) << "2 bytes from 8 to 10, then 3 of the 4 that are free at 10";
  EXPECT_EQ(e.memory_idle, 0);
  const Effect f =
      append(state, {2, 6}); // 1 byte until 14, then from 15 on 5 more: 4 of the second layer, 1 of the third
  EXPECT_EQ(f.memory_idle, 1 + 0) << "14 to 15; the third layer completes at 16, before 19";
  EXPECT_EQ(f.fetched, 20);
  EXPECT_EQ(f.compute_begin, 20);
  EXPECT_EQ(f.compute_idle, 4);
}

TEST(ScheduleState, AFetchWaitsForSeveralLayersInTurn) {
  ScheduleState state({4, 1});
  append(state, {10, 2}); // fetched 2, computed 12
  append(state, {10, 2}); // fetched 4, computed 22
  const Effect e = append(state, {1, 4});
  EXPECT_EQ(e.fetched, 24) << "2 bytes from 12 to 14, 2 from 22 to 24";
  EXPECT_EQ(e.memory_idle, 8 + 8);
  EXPECT_EQ(e.compute_idle, 2);
}

// Figure 11: the longer of computing and fetching decides, and each idle time is that of one of them.
TEST(ScheduleState, ComputingWaitsForWeightsOrForTheLayerBefore) {
  ScheduleState late({100, 1}), early({100, 1});
  append(late, {1, 2});
  append(early, {9, 2});
  EXPECT_EQ(late.effect_of({1, 5}).compute_idle, 4);
  EXPECT_EQ(early.effect_of({1, 5}).compute_idle, 0);
  EXPECT_EQ(early.effect_of({1, 5}).computed, 12);
}

TEST(ScheduleState, WaitsForARequest) {
  ScheduleState state({4, 1});
  append(state, {1, 4});
  state.wait_until(7);
  EXPECT_EQ(state.occupied(), 0U);
  const Effect e = append(state, {1, 1});
  EXPECT_EQ(e.fetched, 8);
  EXPECT_EQ(e.compute_idle, 3);
}

TEST(ScheduleState, ALayerWithoutWeightsIsThereAtOnce) {
  ScheduleState state({4, 1});
  append(state, {3, 2});
  const Effect e = append(state, {2, 0});
  EXPECT_EQ(e.fetched, 2);
  EXPECT_EQ(e.computed, 7);
  EXPECT_EQ(e.idle(), 0);
}

} // namespace
} // namespace gradweave::weave_model
