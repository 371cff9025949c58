// Embedding tables at places of their own: what runs there.
#include "graph/partition/look_ups.hpp"

#include "graph/operators/table.hpp"
#include "graph/partition/partition.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gradweave::graph {
namespace {

const char *const kLookUps = R"(graph "net"
input ids int32 [6, 3]
input others int32 [6]
input labels int32 [6]
parameter table [20, 4] init "kaiming"
parameter other [10, 4] init "kaiming"
parameter shared [6, 4] init "kaiming"
parameter w [4, 3] init "kaiming"
rows = Gather(table, ids)
bag = ReduceSum(rows) axes=[1] keepdims=0
row = Gather(other, others)
one = Gather(shared, others)
two = Gather(shared, others)
twice = Add(one, two)
of_both = Add(bag, row)
sum = Add(of_both, twice)
logits = Gemm(sum, w)
cost = SoftmaxCrossEntropy(logits, labels)
loss cost
)";

Graph bags() { return read_graph(kLookUps, "net.graph", operators()); }

std::uint32_t place_in(const Graph &graph, const std::vector<std::uint32_t> &places, const std::string &name) {
  const auto op = std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op &o) { return o.name == name; });
  return op == graph.ops.end() ? kNone : places[static_cast<std::size_t>(op - graph.ops.begin())];
}

TEST(LookUps, TablesTakeTurns) {
  const Graph graph = bags();
  const auto places = places_of_look_ups(graph, {5, 7}, true);
  EXPECT_EQ(place_in(graph, places, "rows"), 5U);
  EXPECT_EQ(place_in(graph, places, "bag"), 5U);
  EXPECT_EQ(place_in(graph, places, "row"), 7U);
  EXPECT_EQ(place_in(graph, places, "of_both"), kNone); // of two places
}

TEST(LookUps, WhatFollowsAtOnePlaceIsThereAsLongAsItIsNoProduct) {
  const Graph graph = bags();
  const auto together = places_of_look_ups(graph, {5}, true);
  EXPECT_EQ(place_in(graph, together, "of_both"), 5U);
  EXPECT_EQ(place_in(graph, together, "sum"), kNone);
  EXPECT_EQ(place_in(graph, together, "logits"), kNone);
  const auto rows = places_of_look_ups(graph, {5}, false);
  EXPECT_EQ(place_in(graph, rows, "rows"), 5U);
  EXPECT_EQ(place_in(graph, rows, "bag"), kNone);
}

TEST(LookUps, ATableThatTwoReadIsNone) {
  const Graph graph = bags();
  EXPECT_EQ(place_in(graph, places_of_look_ups(graph, {5}, true), "one"), kNone);
  const auto none = places_of_look_ups(graph, {}, true);
  EXPECT_EQ(std::count(none.begin(), none.end(), kNone), static_cast<std::ptrdiff_t>(graph.ops.size()));
}

/// A table's look-ups are those of all images; its gradient and update are where it is.
TEST(LookUps, OfAPartitionStayTogetherAndAreUpdatedThere) {
  Partition partition;
  partition.routes = {{1, {{0, 0}}}, {2, {{1, 0}}}};
  partition.tables = {2};
  TrainingOptions options;
  options.sparse_embeddings = true;
  const PartitionedGraph cut = partition_batch(bags(), operators(), partition);
  const TrainingGraph step = training_graph(cut.graph, operators(), options);
  const std::vector<std::uint32_t> places = places_of_step(step, cut);
  EXPECT_EQ(place_in(step.graph, places, "rows"), 2U);
  EXPECT_EQ(place_in(step.graph, places, "of_both"), 2U);
  EXPECT_EQ(place_in(step.graph, places, "sum.part0"), 0U);
  EXPECT_EQ(place_in(step.graph, places, "logits.part1"), 1U);
  for (const Update &update : step.graph.updates) {
    const std::string &name = step.graph.tensors[update.tensor].name;
    const std::uint32_t place = places[step.graph.tensors[update.next].producer];
    EXPECT_EQ(place, name.rfind("table", 0) == 0 || name.rfind("other", 0) == 0 ? 2U : 0U) << name;
  }
}

} // namespace
} // namespace gradweave::graph
