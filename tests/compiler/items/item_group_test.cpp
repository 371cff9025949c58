// Which ops go item by item, and what an item is.
#include "compiler/items/item_cut.hpp"
#include "compiler/items/item_group.hpp"
#include "compiler/items/lower_items.hpp"
#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/config/machine.hpp"
#include "tests/compiler/vector/step_ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

using graph::Builder;
using graph::Graph;
using graph::OpId;
using graph::TensorId;

/// Two products of a batch with an activation between them.
struct TwoProducts {
  Graph graph;
  Builder build{graph, graph::operators()};
  TensorId x = build.input("x", graph::ElementType::kFp32, {3, 5, 4});
  TensorId scores = build.add("MatMul", {x, x}, {{"trans_b", std::int64_t{1}}}, "scores");
  TensorId active = build.add("Relu", {scores}, {}, "active");
};

std::vector<OpId> only_group(const Graph &graph) {
  const std::vector<ItemGroup> groups = find_item_groups(graph);
  return groups.size() == 1 ? groups[0].ops : std::vector<OpId>{};
}

TEST(ItemGroups, ProductsAndWhatIsBetweenThem) {
  TwoProducts net;
  net.build.add("MatMul", {net.active, net.x}, {}, "y");
  EXPECT_EQ(only_group(net.graph), (std::vector<OpId>{0, 1, 2}));
  EXPECT_EQ(find_item_groups(net.graph)[0].items, 3U);
}

/// It would have to run before the group's last product, and behind its first.
TEST(ItemGroups, EndBeforeAnotherReader) {
  TwoProducts net;
  const TensorId all = net.build.add("Reshape", {net.active}, {{"shape", std::vector<std::int64_t>{15, 5}}}, "all");
  net.build.add("MatMul", {net.active, net.x}, {}, "y");
  net.graph.results = {all};
  EXPECT_TRUE(find_item_groups(net.graph).empty());
}

TEST(ItemGroups, HaveNoOperatorsBehindTheLastProduct) {
  TwoProducts net;
  const TensorId y = net.build.add("MatMul", {net.active, net.x}, {}, "y");
  net.build.add("Relu", {y}, {}, "behind");
  EXPECT_EQ(only_group(net.graph).size(), 3U);
}

TEST(ItemGroups, AProductThatSharesAnOperandIsOfTheGroup) {
  TwoProducts net;
  net.build.add("MatMul", {net.x, net.x}, {{"trans_a", std::int64_t{1}}}, "other");
  net.build.add("MatMul", {net.active, net.x}, {}, "y");
  EXPECT_EQ(only_group(net.graph).size(), 4U);
}

TEST(ItemGroups, ProductsAloneAreNone) {
  TwoProducts net;
  EXPECT_TRUE(find_item_groups(net.graph).empty());
}

/// Of a step of a small bert_tiny.
struct Lowered {
  std::vector<NetworkStep> steps = network_steps();
  const Graph &graph = steps.front().graph;
  std::vector<ItemGroup> groups = find_item_groups(graph);
};

TEST(LowerItems, AttentionIsAnItemAHead) {
  const Lowered bert;
  ASSERT_EQ(bert.steps.front().name.substr(0, 9), "bert_tiny");
  ASSERT_GE(bert.groups.size(), 2U);
  const NpuConfig npu = load_machine("configs/small.toml");
  for (const ItemGroup &group : bert.groups) {
    const auto jobs = lower_items(bert.graph, bert.graph.consumers(), group, npu);
    ASSERT_TRUE(jobs);
    EXPECT_EQ(jobs->items, group.items);
    // Scores, masked scores and powers have one place, dP and dS another.
    const bool masked =
        std::any_of(jobs->tiles.begin(), jobs->tiles.end(), [](const ItemTile &t) { return t.loaded && !t.each; });
    EXPECT_EQ(
        std::count_if(jobs->tiles.begin(), jobs->tiles.end(), [](const ItemTile &t) { return t.over != kOwnPlace; }),
        masked ? 2 : 1);
    const auto kept = lower_items(bert.graph, bert.graph.consumers(), group, npu, [](TensorId) { return true; });
    const auto stored = [](const ItemTile &t) { return t.stored; };
    EXPECT_GT(std::count_if(kept->tiles.begin(), kept->tiles.end(), stored),
              std::count_if(jobs->tiles.begin(), jobs->tiles.end(), stored));
  }
}

/// A reduction over rows hands nothing on in a lane of one item.
TEST(LowerItems, WhatIsNotLocalToAnItemIsRefused) {
  Graph graph;
  Builder build(graph, graph::operators());
  const TensorId x = build.input("x", graph::ElementType::kBf16, {3, 5, 4});
  const TensorId scores = build.add("MatMul", {x, x}, {{"trans_b", std::int64_t{1}}}, "scores");
  const TensorId sum = build.add("SumTo", {scores}, {{"shape", std::vector<std::int64_t>{5, 5}}}, "sum");
  const ItemGroup group{{0, 1}, 3};
  EXPECT_FALSE(lower_items(graph, graph.consumers(), group, load_machine("configs/small.toml")));
  EXPECT_NE(sum, graph::kNone);
}

TEST(ItemCuts, ChunksEndWhereASharedTileChanges) {
  ItemJobs jobs;
  jobs.items = 8;
  ItemTile own, shared;
  own.firsts = {0, 1, 2, 3, 4, 5, 6, 7};
  shared.each = false;
  shared.firsts = {0, 0, 0, 0, 0, 9, 9, 9};
  jobs.tiles = {own, shared};
  std::vector<std::size_t> firsts;
  ItemCut cut;
  cut.chunk = 4;
  for (const ItemChunk &chunk : chunks_of(jobs, cut))
    firsts.push_back(chunk.first);
  EXPECT_EQ(firsts, (std::vector<std::size_t>{0, 2, 5}));
}

/// What is shared has a copy for each that the chunk's items have.
TEST(ItemCuts, ChunksMayGoAcross) {
  ItemJobs jobs;
  jobs.items = 9;
  ItemTile own, shared;
  own.firsts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  shared.each = false;
  shared.firsts = {0, 0, 0, 4, 4, 4, 8, 8, 8};
  jobs.tiles = {own, shared};
  ItemCut cut;
  cut.chunk = 5;
  EXPECT_EQ(copies_of(jobs, 1, cut), 1U);
  cut.across = true;
  const std::vector<ItemChunk> chunks = chunks_of(jobs, cut);
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[1].first, 4U);
  EXPECT_EQ(copies_of(jobs, 0, cut), 1U);
  EXPECT_EQ(copies_of(jobs, 1, cut), 2U);
  EXPECT_EQ(copy_of(shared, chunks[1], 1), 0U);
  EXPECT_EQ(copy_of(shared, chunks[1], 2), 1U);
}

/// Columns of items side by side, in panels of 45 lanes.
TEST(ItemCuts, ProductsAreCutWhereAPanelEnds) {
  ItemJobs jobs;
  jobs.items = 4;
  ItemTile tile;
  tile.rows = 128;
  tile.cols = 26;
  jobs.tiles = {tile, tile, tile};
  ItemProduct product;
  product.b = 1, product.c = 2;
  product.n = 26;
  ItemCut cut;
  cut.wide = {false, true, false};
  const NpuConfig npu = load_machine("configs/small.toml");
  const auto counts = [&](std::size_t item) {
    std::vector<std::uint32_t> all;
    for (const ProductPart &part : column_parts(jobs, product, item, cut, npu))
      all.push_back(part.count);
    return all;
  };
  const auto sums = [&](std::size_t item) {
    std::vector<std::uint32_t> all;
    for (const ProductPart &part : sum_parts(jobs, product, item, cut, npu))
      all.push_back(part.count);
    return all;
  };
  EXPECT_EQ(counts(0), (std::vector<std::uint32_t>{26}));
  EXPECT_EQ(counts(1), (std::vector<std::uint32_t>{19, 7})); // 26 to 51
  EXPECT_EQ(counts(2), (std::vector<std::uint32_t>{26}));
  EXPECT_EQ(counts(3), (std::vector<std::uint32_t>{12, 14})); // 78 to 103
  product.k = 26;
  EXPECT_EQ(sums(1), (std::vector<std::uint32_t>{26})); // over its rows
  jobs.tiles[2].cols = 30;
  cut.wide[2] = true; // 30 to 55: its panel ends elsewhere
  EXPECT_EQ(counts(1), (std::vector<std::uint32_t>{15, 4, 7}));
  product.b_col = true; // whose columns are not the result's
  EXPECT_EQ(counts(1), (std::vector<std::uint32_t>{15, 11}));
  EXPECT_EQ(sums(1), (std::vector<std::uint32_t>{19, 7}));
}

TEST(ItemCuts, WhatMayLieSideBySide) {
  ItemJobs jobs;
  ItemTile loaded, inside;
  loaded.loaded = true;
  jobs.tiles = {loaded, loaded, inside, loaded};
  ItemProduct product;
  product.a = 0, product.b = 1, product.c = 2;
  jobs.stages = {product};
  EXPECT_FALSE(may_be_wide(jobs, 0)); // its columns are rows of the result
  EXPECT_TRUE(may_be_wide(jobs, 1));
  EXPECT_FALSE(may_be_wide(jobs, 2));
  std::get<ItemProduct>(jobs.stages[0]).a_col = true;
  EXPECT_TRUE(may_be_wide(jobs, 0)); // sums over its columns
  ItemRun run;
  run.operands = {{1, true, false, false}};
  jobs.stages.emplace_back(run);
  EXPECT_FALSE(may_be_wide(jobs, 1)); // lanes are rows of one below the other
}

} // namespace
} // namespace gradweave::compiler
