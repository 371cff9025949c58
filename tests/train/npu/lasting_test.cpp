// What a step leaves to the next one, or need not read: copies of parameters, operands that are replaced, and rows of
// gradients that are zero.
#include "compiler/vector/lower_op.hpp"
#include "compiler/verify/verify_sync.hpp"
#include "tests/train/convolution_networks.hpp"
#include "tests/train/npu/npu_steps.hpp"
#include "train/npu/plan/order/named_rows.hpp"
#include "train/npu/plan/order/reads_first.hpp"
#include "train/npu/plan/order/weight_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <utility>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::OpId;
using graph::Role;

graph::TrainingGraph step_of(const graph::Graph &forward, const graph::TrainingOptions &options = {}) {
  return graph::training_graph(forward, graph::operators(), options);
}

TEST(LastingCopies, EachUpdateHasACopyBehindIt) {
  const graph::TrainingGraph step = step_of(perceptron(6, {20, 13, 9, 5}));
  const LastingCopies lasting = with_lasting_copies(step);
  const graph::Graph &graph = lasting.step.graph;
  ASSERT_EQ(lasting.copies.size(), 3U);
  EXPECT_EQ(graph.ops.size(), step.graph.ops.size());
  EXPECT_EQ(graph.tensors.size(), step.graph.tensors.size() + 3);
  for (const auto &[copy, parameter] : lasting.copies) {
    EXPECT_EQ(graph.tensors[copy].role, Role::kState);
    const auto next_of = [&graph](graph::TensorId id) {
      return std::find_if(graph.updates.begin(), graph.updates.end(), [id](const auto &u) { return u.tensor == id; })
          ->next;
    };
    const OpId cast = graph.tensors[next_of(copy)].producer, update = graph.tensors[next_of(parameter)].producer;
    EXPECT_EQ(graph.ops[cast].inputs, std::vector<graph::TensorId>{next_of(parameter)});
    EXPECT_EQ(cast, update + 1);
  }
}

TEST(LastingCopies, OfAStepWithoutUpdatesAreThoseOfItsParameters) {
  graph::TrainingOptions options;
  options.extent = graph::Extent::kForward;
  const graph::TrainingGraph step = step_of(perceptron(6, {20, 13, 5}), options);
  const LastingCopies lasting = with_lasting_copies(step);
  EXPECT_EQ(lasting.copies.size(), 2U);
  EXPECT_EQ(lasting.step.graph.tensors.size(), step.graph.tensors.size());
  EXPECT_TRUE(lasting.step.graph.updates.empty());
}

TEST(LastingCopies, AreMadeOfWhatLivesAndLeaveNothing) {
  const graph::TrainingGraph step = step_of(perceptron(6, {20, 13, 5}));
  const LastingCopies lasting = with_lasting_copies(step);
  Living living = initial_living(step.graph, 1);
  const Living before = living;
  make_copies(lasting, living);
  const auto [copy, parameter] = lasting.copies.front();
  ASSERT_EQ(living[copy].size(), living[parameter].size());
  for (std::size_t i = 0; i < living[copy].size(); ++i)
    EXPECT_EQ(living[copy][i], fp32_from_bf16(bf16_from_fp32(living[parameter][i])));
  drop_copies(lasting, living);
  EXPECT_EQ(living, before);
}

/// The copy that a step begins with is the one that the step before stored.
TEST(LastingCopies, AChangedCopyIsSeen) {
  const LastingCopies lasting = with_lasting_copies(step_of(perceptron(6, {20, 13, 5})));
  std::uint64_t at = 0;
  int runs = 0;
  NpuSteps steps(perceptron(6, {20, 13, 5}), {},
                 std::make_unique<ChangingDevice>(npu_of("test8v2"),
                                                  [&](std::vector<isa::Command> &, Device &memory) {
                                                    const std::uint16_t other = 0x4123;
                                                    if (runs++ == 1) memory.copy_in(at, &other, sizeof(other));
                                                  }),
                 Backend::kFunctional);
  at = steps.executor.planned().memory().places[lasting.copies.front().first].address;
  EXPECT_EQ(steps.next(), "");
  EXPECT_NE(steps.next(), "");
}

/// A LOAD and a STORE of four bf16 values, the STORE `bytes` behind the LOAD's place and waiting for it if `waits`.
bool pair_is_in_order(std::uint64_t bytes, bool waits, bool load_first = true) {
  isa::DmaCommand load;
  load.dram_addr = 0x1000;
  load.rows = 1;
  load.cols = 4;
  load.spm.pstride = 1;
  isa::DmaCommand store = load;
  store.store = true;
  store.dram_addr += bytes;
  store.spm.row = 4;
  isa::Decoded first{load, {}, 0}, second{store, {}, 0};
  if (!load_first) std::swap(first, second);
  if (waits) {
    first.sync.posts[0] = 0;
    second.sync.waits[0] = {0, 1};
  }
  return reads_come_first({isa::encode(first), isa::encode(second)}, 0x1000, 0x1010, npu_of("test8v2"));
}

TEST(ReadsFirst, AStoreWaitsForLoadsOfItsBytes) {
  EXPECT_TRUE(pair_is_in_order(8, false));
  EXPECT_TRUE(pair_is_in_order(6, true));
  EXPECT_FALSE(pair_is_in_order(6, false));
  EXPECT_TRUE(pair_is_in_order(0x1000, false)); // elsewhere
}

/// Element by element.
bool elements_are_read_first(const std::vector<isa::Command> &section, std::uint64_t begin, std::uint64_t end,
                             const NpuConfig &npu) {
  compiler::SyncReplay sync(npu);
  std::vector<std::uint32_t> read((end - begin) / 2);
  std::vector<bool> written(read.size());
  for (const isa::Command &command : section) {
    const isa::Decoded decoded = *isa::decode(command);
    EXPECT_EQ(sync.step(decoded), "");
    const auto &dma = std::get<isa::DmaCommand>(decoded.op);
    for (std::uint32_t row = 0; row < dma.rows; ++row)
      for (std::uint32_t col = 0; col < dma.cols; ++col) {
        const std::uint64_t at = dma.dram_addr + std::uint64_t{row} * dma.pitch + std::uint64_t{col} * 2;
        if (at < begin || at >= end) continue;
        const std::size_t i = (at - begin) / 2;
        if (dma.store ? !sync.complete(static_cast<std::size_t>(isa::Engine::LOAD), read[i]) : written[i]) return false;
        if (dma.store)
          written[i] = true;
        else
          read[i] = sync.position();
      }
  }
  return true;
}

/// Tiles of a matrix, some of another pitch, some of which reach beyond it.
TEST(ReadsFirst, IsToldElementByElement) {
  std::mt19937 rng(51);
  const auto below = [&](std::uint32_t count) { return static_cast<std::uint32_t>(rng() % count); };
  int in_order = 0;
  constexpr int kStreams = 4000;
  for (int stream = 0; stream < kStreams; ++stream) {
    std::vector<isa::Command> section;
    std::uint32_t posted = 0;
    for (std::uint32_t i = 0, count = 2 + below(6); i < count; ++i) {
      isa::DmaCommand dma;
      dma.store = i > 0 && below(i + 1) > 0;
      dma.rows = 1 + below(3);
      dma.cols = 1 + below(4);
      dma.pitch = below(4) == 0 ? 2 * (dma.cols + below(3)) : 16;
      dma.dram_addr = 0x1000 + 2 * below(48);
      dma.spm = {8 * i, 0, 1};
      isa::Decoded command{dma, {}, 0};
      if (!dma.store) {
        command.sync.posts[0] = 0;
        ++posted;
      } else if (posted > 0 && below(2) == 0) {
        command.sync.waits[0] = {0, static_cast<std::uint8_t>(posted)};
        posted = 0;
      }
      section.push_back(isa::encode(command));
    }
    const NpuConfig npu = npu_of("test8v2");
    const bool told = reads_come_first(section, 0x1010, 0x1040, npu);
    EXPECT_EQ(told, elements_are_read_first(section, 0x1010, 0x1040, npu)) << "stream " << stream;
    in_order += told ? 1 : 0;
  }
  EXPECT_GT(in_order, kStreams / 10);
  EXPECT_LT(in_order, kStreams * 9 / 10);
}

TEST(ReadsFirst, ALoadBehindTheStoreIsSeen) { EXPECT_FALSE(pair_is_in_order(6, true, false)); }

TEST(NamedRows, AreThoseOfGradientsThatOneUpdateReads) {
  graph::TrainingOptions sparse, clipped;
  sparse.sparse_embeddings = true;
  clipped.clip_norm = 0.1;
  const auto count = [](const graph::TrainingGraph &step, bool dense) {
    return std::count_if(step.graph.ops.begin(), step.graph.ops.end(), [&](const graph::Op &op) {
      return (dense ? gradient_by_rows(step.graph, op) : named_rows_of(step.graph, op)) != kNone;
    });
  };
  EXPECT_EQ(count(step_of(small_bert()), false), 3);
  EXPECT_EQ(count(step_of(small_bert()), true), 3);
  EXPECT_EQ(count(step_of(small_bert(), sparse), false), 3);
  EXPECT_EQ(count(step_of(small_bert(), sparse), true), 0);
  EXPECT_EQ(count(step_of(small_bert(), clipped), false), 0);
}

/// Rows that are not named read a zero of the first of them, wherever named ones stand.
TEST(NamedRows, CutAnUpdateIntoRanges) {
  const graph::TrainingGraph step = step_of(small_bert());
  for (const graph::Op &op : step.graph.ops) {
    if (gradient_by_rows(step.graph, op) == kNone) continue;
    const graph::Shape &shape = step.graph.tensors[op.inputs[0]].shape;
    const auto last = static_cast<std::int32_t>(shape.rows() - 1);
    for (const std::vector<std::int32_t> &named :
         {std::vector<std::int32_t>{0}, {last}, {last, 0, last}, std::vector<std::int32_t>{}}) {
      compiler::OpJobs jobs = compiler::lower_op(step.graph, op);
      const std::size_t whole = jobs.steps.size();
      update_by_rows(jobs, op.inputs[1], named, shape);
      std::size_t elements = 0, zeros = 0;
      for (const compiler::JobStep &step_of_jobs : jobs.steps) {
        const auto &job = std::get<compiler::VectorJob>(step_of_jobs);
        elements += std::size_t{job.lanes} * job.steps;
        for (const compiler::JobTile &tile : job.operands)
          if (jobs.values[tile.value].tensor == op.inputs[1] && !tile.lanes_move)
            zeros += std::size_t{job.lanes} * job.steps;
      }
      EXPECT_EQ(elements, whole * shape.elements());
      const std::size_t rows = std::set<std::int32_t>(named.begin(), named.end()).size();
      EXPECT_EQ(zeros, (shape.rows() - rows) * shape.cols());
    }
    return;
  }
  FAIL() << "no update is by rows";
}

/// A row is zero before it is first added to, once; of those that are not named the first.
TEST(NamedRows, AreZeroRightBeforeTheirFirstSum) {
  graph::Graph graph;
  graph::Builder build(graph, graph::operators());
  constexpr std::uint32_t kCols = 5;
  const std::vector<std::int32_t> named{4, 1, 1, 2, 3, 4, 2};
  const graph::TensorId dy =
      build.input("dy", graph::ElementType::kFp32, graph::Shape{static_cast<std::uint32_t>(named.size()), kCols});
  const graph::TensorId ids =
      build.input("ids", graph::ElementType::kInt32, graph::Shape{static_cast<std::uint32_t>(named.size())});
  build.add("GatherGradient", {dy, ids}, {{"axis", std::int64_t{0}}, {"shape", std::vector<std::int64_t>{9, kCols}}},
            "dx");
  compiler::OpJobs jobs = compiler::lower_op(graph, graph.ops[0], {nullptr, &named});
  zero_named_rows(jobs, named, graph::Shape{9, kCols});
  std::multiset<std::size_t> zeros;
  for (const compiler::JobStep &step : jobs.steps) {
    const auto &job = std::get<compiler::VectorJob>(step);
    for (std::size_t row = 0; row < job.lanes * job.steps / kCols; ++row) {
      const std::size_t at = job.results[0].first / kCols + row;
      if (job.operands.empty())
        zeros.insert(at);
      else
        EXPECT_EQ(zeros.count(at), 1U);
      if (!job.operands.empty() && job.steps > 1) break; // a chain: one row
    }
  }
  EXPECT_EQ(zeros, (std::multiset<std::size_t>{0, 1, 2, 3, 4}));
}

} // namespace
} // namespace gradweave::runtime::train
