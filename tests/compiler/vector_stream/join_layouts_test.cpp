// Areas of different jobs that overlap as those of one do.
#include "compiler/vector_stream/cut/join_layouts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gradweave::compiler {
namespace {

AreaTile tile_at(std::size_t value, std::size_t first, std::uint32_t row, std::uint32_t cols) {
  AreaTile t;
  t.value = value;
  t.first = first;
  t.cols = cols;
  t.spm = {row, 2, 0};
  return t;
}

/// Reads some of value 0 at row 0 of the place, and stores some of value 1 at row `to`.
Area area_at(std::size_t first, std::size_t layout, std::uint32_t to = 8, std::uint32_t cols = 16) {
  Area a;
  a.layout = layout;
  a.loaded = {tile_at(0, first, 0, cols)};
  a.stored = {tile_at(1, first, to, cols)};
  AreaRun run;
  for (const std::uint32_t row : {0U, to}) {
    isa::VectorTile t;
    t.spm = {row, 2, 0};
    run.tiles.push_back(t);
  }
  a.runs = {run};
  return a;
}

std::size_t layouts(std::vector<Area> areas) {
  AreaPlan plan;
  plan.areas = std::move(areas);
  join_layouts(plan);
  std::set<std::size_t> all;
  for (const Area &a : plan.areas)
    all.insert(a.layout);
  return all.size();
}

TEST(JoinLayouts, TilesAtTheSameRowsAreOfOneLayout) {
  EXPECT_EQ(layouts({area_at(0, 3), area_at(16, 3), area_at(32, 5, 8, 12), area_at(48, 5), area_at(64, 6)}), 1U);
  EXPECT_EQ(layouts({area_at(0, 3), area_at(16, 4, 10)}), 2U);
  Area move = area_at(16, 4);
  move.runs.clear();
  EXPECT_EQ(layouts({area_at(0, 3), move, move}), 2U);
}

TEST(JoinLayouts, WhatWasStoredBeforeIsNotLoadedInTheSameLayout) {
  Area reads = area_at(64, 5);
  reads.loaded[0].value = 1;
  EXPECT_EQ(layouts({area_at(0, 3), area_at(16, 4), reads, area_at(32, 6)}), 1U);
  reads.loaded[0].first = 4; // the first area's
  EXPECT_EQ(layouts({area_at(0, 3), area_at(16, 4), reads, area_at(32, 6)}), 2U);
}

} // namespace
} // namespace gradweave::compiler
