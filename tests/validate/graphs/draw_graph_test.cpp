// What random graphs are made of.
#include "app/validate/graphs/draw_graph.hpp"
#include "app/validate/graphs/graph_case.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/training.hpp"
#include "graph/text/print.hpp"
#include "graph/text/read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace gradweave::graphs {
namespace {

constexpr std::uint64_t kSeeds = 1500;

graph::TrainingOptions options_of(const cli::TrainRequest &request) {
  graph::TrainingOptions options;
  options.extent = graph::parse_extent(request.extent);
  options.optimizer = graph::parse_optimizer(request.optimizer);
  options.momentum = request.optimizer == "sgd" ? request.momentum : 0;
  options.clip_norm = request.clip;
  options.accumulate = request.accumulate;
  options.sparse_embeddings = request.sparse_embeddings;
  return options;
}

/// What the first seeds hold, in their networks and their training steps.
struct Drawn {
  std::set<std::string_view> in_networks, in_steps;
  std::map<std::string, std::set<std::string>> attributes; ///< "Conv.pads" and its values
};

const Drawn &drawn() {
  static const Drawn all = [] {
    Drawn found;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const GraphCase one = draw_case(seed, {});
      for (const graph::Op &op : one.network.ops) {
        found.in_networks.insert(op.type->name);
        for (const auto &[name, value] : op.attributes.all())
          found.attributes[fmt::format("{}.{}", op.type->name, name)].insert(graph::to_string(value));
      }
      for (const graph::Op &op :
           graph::training_graph(one.network, graph::operators(), options_of(one.request)).graph.ops)
        found.in_steps.insert(op.type->name);
    }
    return found;
  }();
  return all;
}

/// A new operator that the generator cannot reach is missing here: its inputs' shapes or attributes need a guess in
/// app/validate/graphs/draw_values.cpp.
TEST(DrawGraph, EveryOperatorOfTheTableIsInSomeStep) {
  std::vector<std::string_view> missing;
  for (const graph::Operator &type : graph::operators().all())
    if (drawn().in_steps.count(type.name) == 0) missing.push_back(type.name);
  EXPECT_TRUE(missing.empty()) << fmt::format("in none of {} seeds: {}", kSeeds, fmt::join(missing, ", "));
}

TEST(DrawGraph, EveryOperatorOfNetworksIsInSomeNetwork) {
  std::vector<std::string_view> missing;
  for (const graph::Operator *type : network_operators())
    if (drawn().in_networks.count(type->name) == 0) missing.push_back(type->name);
  EXPECT_TRUE(missing.empty()) << fmt::format("in none of {} seeds: {}", kSeeds, fmt::join(missing, ", "));
}

TEST(DrawGraph, EveryAttributeHasSeveralValues) {
  std::vector<std::string> fixed;
  for (const auto &[attribute, values] : drawn().attributes)
    if (values.size() < 2) fixed.push_back(attribute);
  EXPECT_TRUE(fixed.empty()) << fmt::format("of one value in {} seeds: {}", kSeeds, fmt::join(fixed, ", "));
}

TEST(DrawGraph, OneSeedGivesOneCase) {
  std::set<std::string> networks;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const GraphCase one = draw_case(seed, {}), again = draw_case(seed, {});
    EXPECT_EQ(graph::print_graph(one.network), graph::print_graph(again.network)) << "seed " << seed;
    EXPECT_EQ(command_of(one, "f.graph"), command_of(again, "f.graph")) << "seed " << seed;
    networks.insert(graph::print_graph(one.network));
  }
  EXPECT_EQ(networks.size(), 100U);
}

TEST(DrawGraph, TextIsReadBackAsTheGraph) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = graph::print_graph(draw_case(seed, {}).network);
    EXPECT_EQ(graph::print_graph(graph::read_graph(text, "f.graph", graph::operators())), text) << "seed " << seed;
  }
}

/// A fuzzer's input may end at once: then all choices are the first ones.
TEST(DrawGraph, AnyBytesEnd) {
  for (std::size_t size = 0; size < 40; ++size)
    for (const std::uint8_t value : {0, 1, 77, 255}) {
      const std::vector<std::uint8_t> bytes(size, value);
      Choices choices(bytes.data(), bytes.size());
      const auto one = draw_case(choices, {}, "bytes");
      EXPECT_TRUE(!one || one->network.loss != graph::kNone) << size << " bytes " << int{value};
    }
}

} // namespace
} // namespace gradweave::graphs
