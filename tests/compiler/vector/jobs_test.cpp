// Jobs of the vector unit give golden execution's bits: each operator of whole training steps, on machines of several
// widths.
#include "compiler/vector/lower_op.hpp"
#include "tests/compiler/vector/op_jobs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kSeed = 27;

const std::vector<NetworkStep> &steps() {
  static const std::vector<NetworkStep> all = network_steps();
  return all;
}

/// Widths for an op of so many elements: those of `small` and `large` and, where it does not take long, odd ones.
std::vector<LineWidth> widths(std::size_t elements) {
  constexpr std::size_t kMany = 100'000;
  if (elements > kMany) return {{45, 4}};
  return {{45, 4}, {128, 8}, {5, 1}, {3, 2}};
}

TEST(VectorJobs, GiveTheBitsOfGoldenExecution) {
  std::size_t compared = 0;
  for (const auto &[step, op] : distinct_ops(steps())) {
    if (!has_jobs(*op->type)) continue;
    for (const Values values : {Values::kTame, Values::kSpecial}) {
      Dice dice(kSeed);
      const OpData data = random_data(step->graph, *op, values, dice);
      const OpJobs jobs = lowered(step->graph, *op, data);
      std::size_t elements = 0;
      for (const JobValue &value : jobs.values)
        elements += value.elements;
      for (const LineWidth &width : widths(elements)) {
        const std::string found = difference(step->graph, *op, data, jobs, width);
        EXPECT_EQ(found, "") << step->name << ", seed " << kSeed;
        if (!found.empty()) break;
      }
    }
    ++compared;
  }
  EXPECT_GT(compared, 200U);
}

// Faults that the comparison has to see.

/// An op of the steps whose first output has the shape, with data and jobs.
struct Broken {
  Broken(std::string_view type, const graph::Shape &shape) {
    for (const auto &[step, found] : distinct_ops(steps()))
      if (found->type->name == type && step->graph.tensors[found->outputs[0]].shape == shape) {
        graph = &step->graph;
        op = found;
      }
    if (op == nullptr) throw std::logic_error("the steps have no such op");
    Dice dice(kSeed);
    data = random_data(*graph, *op, Values::kTame, dice);
    jobs = lowered(*graph, *op, data);
  }
  VectorJob &job(std::size_t step) { return std::get<VectorJob>(jobs.steps[step]); }
  std::string difference_now() const { return difference(*graph, *op, data, jobs, {45, 4}); }

  const graph::Graph *graph = nullptr;
  const graph::Op *op = nullptr;
  OpData data;
  OpJobs jobs;
};

TEST(VectorJobsFaults, ASwappedBroadcastIsSeen) {
  Broken bias("Bias", {7, 256});
  EXPECT_EQ(bias.difference_now(), "");
  JobTile &tile = bias.job(0).operands[1];
  EXPECT_TRUE(tile.lanes_move && !tile.steps_move);
  std::swap(tile.lanes_move, tile.steps_move);
  tile.pitch = 1;
  EXPECT_NE(bias.difference_now(), "");
}

/// Rows in the other order: the same terms, and another chain.
TEST(VectorJobsFaults, ADescendingChainIsSeen) {
  Broken gradient("BiasGradient", {256});
  EXPECT_EQ(gradient.difference_now(), "");
  std::vector<float> &dy = gradient.data.inputs[0].real;
  for (std::size_t row = 0, rows = dy.size() / 256; row < rows / 2; ++row)
    std::swap_ranges(dy.begin() + static_cast<std::ptrdiff_t>(row * 256),
                     dy.begin() + static_cast<std::ptrdiff_t>((row + 1) * 256),
                     dy.begin() + static_cast<std::ptrdiff_t>((rows - 1 - row) * 256));
  EXPECT_NE(gradient.difference_now(), "");
}

/// 2,048 rows are two parts of 1,024; of 1,025 and 1,023 the sums differ.
TEST(VectorJobsFaults, AnotherLengthOfPartsIsSeen) {
  Broken norm("BatchNormalization", {2, 32, 32, 64});
  EXPECT_EQ(norm.difference_now(), "");
  VectorJob &first = norm.job(0), &second = norm.job(1);
  ASSERT_EQ(first.steps, 1024U);
  ASSERT_EQ(second.steps, 1024U);
  ++first.steps;
  --second.steps;
  second.operands[0].first += second.operands[0].pitch;
  EXPECT_NE(norm.difference_now(), "");
}

TEST(VectorJobsFaults, AnotherInstructionIsSeen) {
  Broken softmax("Softmax", {2, 3, 24, 24});
  EXPECT_EQ(softmax.difference_now(), "");
  for (isa::vector::Instruction &i : softmax.jobs.programs[0].sections[5])
    if (i.op == isa::vector::Op::MUL) i.op = isa::vector::Op::ADD;
  EXPECT_NE(softmax.difference_now(), "");
}

} // namespace
} // namespace gradweave::compiler
