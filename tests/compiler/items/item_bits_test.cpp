// Attention item by item, under any cut: bits of the graph's golden execution on the functional model, and no hazard.
#include "compiler/items/item_commands.hpp"
#include "compiler/items/item_group.hpp"
#include "compiler/items/lower_items.hpp"
#include "graph/build/builder.hpp"
#include "graph/golden/execution.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "tests/compiler/vector_stream/section_run.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

constexpr std::uint64_t kItemSeed = 811;
constexpr std::uint32_t kBatch = 3, kHeads = 4, kItems = kBatch * kHeads;

/// Softmax between two products, or its gradient and the four products around it. Heads lie between each other in
/// memory, as columns of [batch, rows, heads x width].
class Attention {
public:
  Attention(std::uint32_t rows, std::uint32_t width, bool backward) : rows_(rows), width_(width) {
    const TensorId q = heads("q"), k = heads("k"), v = heads("v");
    if (backward) {
      const TensorId dy = heads("dy");
      const TensorId p = build_.input("p", ElementType::kBf16, {kBatch, kHeads, rows, rows});
      const TensorId dp = add("MatMul", {dy, v}, transposed("trans_b"), "dp");
      add("MatMul", {p, dy}, transposed("trans_a"), "dv");
      const TensorId ds = add("SoftmaxGradient", {dp, p}, scale(), "ds");
      add("MatMul", {ds, k}, {}, "dq");
      add("MatMul", {ds, q}, transposed("trans_a"), "dk");
    } else {
      const TensorId mask = build_.input("mask", ElementType::kFp32, {kBatch, 1, 1, rows});
      const TensorId scores = add("MatMul", {q, k}, transposed("trans_b"), "scores", ElementType::kFp32);
      const TensorId p = add("Softmax", {scores, mask}, scale(), "p");
      add("MatMul", {p, v}, {}, "y");
      graph_.results.push_back(p);
    }
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      at_.push_back(end_);
      end_ += (graph_.tensors[id].shape.elements() * bytes(id) + 63) / 64 * 64;
    }
  }

  ItemJobs jobs(const NpuConfig &npu) const {
    const std::vector<ItemGroup> groups = find_item_groups(graph_);
    return lower_items(graph_, graph_.consumers(), groups.at(0), npu).value();
  }

  std::vector<ItemPlace> places(const ItemJobs &jobs) const {
    std::vector<ItemPlace> places;
    for (const ItemTile &tile : jobs.tiles) {
      places.emplace_back();
      if (!tile.loaded && !tile.stored) continue;
      for (std::size_t item = 0; item < kItems; ++item)
        places.back().addresses.push_back(address(tile.tensor, tile.firsts[item]));
      places.back().pitch =
          static_cast<std::uint32_t>(tile.rows == 1 ? 0 : address(tile.tensor, tile.cols) - address(tile.tensor, 0));
    }
    return places;
  }

  /// Empty if all that is stored has golden's bits, and nothing is in a hazard.
  std::string difference(const Machine &npu, const ItemJobs &jobs, const std::vector<isa::Command> &stream) const {
    if (std::string hazard = first_hazard(npu, stream); !hazard.empty()) return hazard;
    graph::ExecutionOptions options;
    options.keep = [](TensorId) { return true; };
    graph::Execution<graph::Contract> golden(graph_, options);
    DeviceMemory memory(end_ + stream.size() * isa::kCommandBytes);
    Dice dice(kItemSeed);
    for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
      if (graph_.tensors[id].computed()) continue;
      std::vector<float> values(graph_.tensors[id].shape.elements());
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(dice.below(512)) / 64.0F - 4.0F;
        const std::uint32_t word = bits_of_fp32(values[i]) >> (bytes(id) == 2 ? 16U : 0U);
        memory.write(address(id, i), &word, bytes(id));
      }
      golden.set(id, std::move(values));
    }
    golden.run();
    if (!run_functional(npu, memory, stream, end_)) return "the stream does not end well";
    for (const ItemTile &tile : jobs.tiles) {
      if (!tile.stored) continue;
      const std::vector<std::uint32_t> right = bits_of(golden.get(tile.tensor));
      for (std::size_t i = 0; i < right.size(); ++i) {
        std::uint32_t word = 0;
        memory.read(address(tile.tensor, i), &word, bytes(tile.tensor));
        if (word << (bytes(tile.tensor) == 2 ? 16U : 0U) != right[i])
          return fmt::format("{} [{}]", graph_.tensors[tile.tensor].name, i);
      }
    }
    return {};
  }

private:
  TensorId heads(const std::string &name) {
    return build_.input(name, ElementType::kBf16, {kBatch, kHeads, rows_, width_});
  }
  TensorId add(const std::string &op, const std::vector<TensorId> &inputs, const graph::Attributes &attributes,
               const std::string &name, ElementType type = ElementType::kBf16) {
    const TensorId out = build_.add(op, inputs, attributes, name);
    graph_.tensors[out].type = type;
    return out;
  }
  static graph::Attributes transposed(const char *which) {
    graph::Attributes a;
    a.set(which, std::int64_t{1});
    return a;
  }
  static graph::Attributes scale() {
    graph::Attributes a;
    a.set("scale", 0.375);
    return a;
  }
  std::uint64_t bytes(TensorId id) const { return graph_.tensors[id].type == ElementType::kBf16 ? 2 : 4; }

  std::uint64_t address(TensorId id, std::size_t element) const {
    const graph::Shape &shape = graph_.tensors[id].shape;
    if (shape.cols() == width_ && shape.rank() == 4) {
      const std::size_t row = element / width_, item = row / rows_;
      element = ((item / kHeads * rows_ + row % rows_) * kHeads + item % kHeads) * width_ + element % width_;
    }
    return at_[id] + element * bytes(id);
  }

  std::uint32_t rows_, width_;
  graph::Graph graph_;
  graph::Builder build_{graph_, graph::operators()};
  std::vector<std::uint64_t> at_;
  std::uint64_t end_ = 0x10000;
};

class ItemBits : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

/// A cut that fits, drawn; empty if this one does not.
std::optional<ItemCut> drawn_cut(Dice &dice, const ItemJobs &jobs, const NpuConfig &npu) {
  ItemCut cut;
  cut.chunk = 1 + dice.below(6);
  cut.ahead = dice.below(2) == 0;
  cut.overlap = dice.below(2) == 0;
  cut.across = dice.below(2) == 0;
  for (std::size_t tile = 0; tile < jobs.tiles.size(); ++tile)
    cut.wide.push_back(may_be_wide(jobs, tile) && dice.below(2) == 0);
  cut.buffers = least_buffers(jobs, cut);
  for (std::uint8_t &buffers : cut.buffers)
    buffers += dice.below(4) == 0 ? 1 : 0;
  return place_items(jobs, cut, npu) ? std::optional(cut) : std::nullopt;
}

/// How many cuts of which kind were run.
struct CutsRun {
  std::size_t all = 0, across = 0, wide = 0;
};

TEST_P(ItemBits, AreGoldenUnderAnyCut) {
  for (const bool backward : {false, true}) {
    CutsRun seen;
    Dice dice(kItemSeed);
    for (const std::uint32_t rows : {3U, 7U, 12U})
      for (const std::uint32_t width : {2U, 3U, 5U}) {
        const Attention attention(rows, width, backward);
        const ItemJobs jobs = attention.jobs(npu_);
        for (int i = 0; i < 8; ++i) {
          const auto cut = drawn_cut(dice, jobs, npu_);
          if (!cut) continue;
          const auto stream = item_commands(jobs, attention.places(jobs), *cut, npu_, 3);
          ASSERT_EQ(attention.difference(npu_, jobs, stream), "")
              << npu_.name << ", " << rows << " x " << width << (backward ? ", backward" : "") << ", chunks of "
              << cut->chunk << (cut->across ? " across" : "") << (cut->ahead ? " ahead" : "")
              << (cut->overlap ? " overlapping" : "") << ", cut " << i;
          ++seen.all;
          seen.across += cut->across ? 1 : 0;
          seen.wide += std::count(cut->wide.begin(), cut->wide.end(), true) > 1 ? 1 : 0;
        }
      }
    EXPECT_GT(seen.all, 20U);
    EXPECT_GT(seen.across, 5U);
    EXPECT_GT(seen.wide, 5U);
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, ItemBits, testing::Values("test8v2", "test6x10v1", "test8c2v8"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace gradweave::compiler
