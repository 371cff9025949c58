// Small areas as one: what they load and store, and the bits of sums that go from area to area.
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/cut/cut_jobs.hpp"
#include "compiler/vector_stream/cut/pack_areas.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

using graph::ElementType;

AreaTile line(std::size_t value, std::size_t first, std::uint32_t row) {
  AreaTile t;
  t.value = value;
  t.first = first;
  t.cols = 8;
  t.fp32 = true;
  t.spm = {row, 2, 0};
  return t;
}

/// Reads a line of value 0 and one of value 1, and stores one of value 0.
Area area(std::size_t from, std::size_t other, std::size_t to, std::size_t layout) {
  Area a;
  a.layout = layout;
  a.loaded = {line(0, from, 0), line(1, other, 2)};
  a.stored = {line(0, to, 4)};
  AreaRun run;
  for (const std::uint32_t row : {0U, 2U, 4U}) {
    isa::VectorTile t;
    t.slot = row / 2;
    t.spm = {row, 2, 0};
    t.rows = 1;
    t.cols = 8;
    t.fp32 = true;
    run.tiles.push_back(t);
  }
  a.runs = {run};
  return a;
}

/// With so much in other areas that these are small.
std::vector<Area> packed(std::vector<Area> areas) {
  const std::size_t count = areas.size();
  for (std::size_t n = 0; n < 2; ++n) {
    Area large = area(1024 * n, 0, 1024 * n, 100);
    large.loaded[0].rows = large.stored[0].rows = 64;
    large.loaded[0].pitch = large.stored[0].pitch = 8;
    large.loaded[0].value = large.stored[0].value = 2;
    areas.push_back(large);
  }
  AreaPlan plan;
  plan.areas = std::move(areas);
  pack_areas(plan, vector_machine("test8v2"));
  EXPECT_GE(plan.areas.size(), 2U);
  EXPECT_LE(plan.areas.size(), count + 2);
  plan.areas.resize(plan.areas.size() - 2);
  return plan.areas;
}

TEST(PackAreas, ASumIsReadWhereItLies) {
  const std::vector<Area> areas = packed({area(0, 0, 0, 0), area(0, 8, 0, 1), area(16, 8, 16, 2)});
  ASSERT_EQ(areas.size(), 1U);
  ASSERT_EQ(areas[0].runs.size(), 3U);
  EXPECT_EQ(areas[0].loaded.size(), 4U);            // the second sum, and the third area's other line, are there
  EXPECT_EQ(areas[0].stored.size(), 2U);            // the first sum is replaced
  EXPECT_EQ(areas[0].runs[1].tiles[0].spm.row, 4U); // the first one's result
  EXPECT_EQ(areas[0].stored[0].spm.row, areas[0].runs[1].tiles[2].spm.row);
  EXPECT_EQ(areas[0].runs[2].tiles[1].spm.row, areas[0].runs[1].tiles[1].spm.row);
}

TEST(PackAreas, WhatIsStoredInPartBeforeStaysApart) {
  EXPECT_EQ(packed({area(0, 0, 0, 0), area(4, 8, 32, 1)}).size(), 2U);
  EXPECT_EQ(packed({area(0, 0, 0, 0), area(16, 8, 4, 1)}).size(), 2U);
  EXPECT_EQ(packed({area(0, 0, 0, 0), area(16, 8, 32, 1)}).size(), 1U);
}

TEST(PackAreas, AreasOfALayoutStay) { EXPECT_EQ(packed({area(0, 0, 0, 0), area(16, 8, 16, 0)}).size(), 2U); }

/// Sums of rows that come again and again, over many packs.
TEST(PackAreas, SumsHaveTheBitsOfGoldenExecution) {
  for (const char *name : {"test8v2", "test6x10v1", "small"}) {
    const Machine npu = vector_machine(name);
    graph::Graph graph;
    graph::Builder build(graph, graph::operators());
    constexpr std::uint32_t kRows = 90, kCols = 13, kTable = 7;
    const graph::TensorId dy = build.input("dy", ElementType::kFp32, graph::Shape{kRows, kCols});
    const graph::TensorId ids = build.input("ids", ElementType::kInt32, graph::Shape{kRows});
    build.add("GatherGradient", {dy, ids},
              {{"axis", std::int64_t{0}}, {"shape", std::vector<std::int64_t>{kTable, kCols}}}, "dx");
    std::vector<std::int32_t> rows;
    for (std::uint32_t i = 0; i < kRows; ++i)
      rows.push_back(static_cast<std::int32_t>(i * i % kTable));
    const OpJobs jobs = lower_op(graph, graph.ops[0], {nullptr, &rows});
    AreaPlan plan = cut_jobs(jobs, npu);
    const std::size_t areas = plan.areas.size();
    pack_areas(plan, npu);
    EXPECT_LT(plan.areas.size(), areas / 2) << name;
    const SectionPlaces places(jobs);
    const std::vector<isa::Command> stream = job_commands(jobs, places.addresses, npu);
    ASSERT_EQ(first_hazard(npu, stream), "") << name;
    DeviceMemory memory(places.end + stream.size() * isa::kCommandBytes);
    std::vector<std::uint32_t> words;
    std::vector<float> sums(kTable * kCols);
    for (std::uint32_t i = 0; i < kRows * kCols; ++i) {
      const float x = 1.0F / static_cast<float>(i + 1);
      words.push_back(bits_of_fp32(x));
      float &sum = sums[static_cast<std::uint32_t>(rows[i / kCols]) * kCols + i % kCols];
      sum = sum + x;
    }
    write_value(memory, places.addresses[0], jobs.values[0], words);
    ASSERT_TRUE(run_functional(npu, memory, stream, places.end));
    for (std::size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(read_element(memory, places.addresses[2], jobs.values[2], i), bits_of_fp32(sums[i]))
          << name << " " << i;
  }
}

} // namespace
} // namespace gradweave::compiler
