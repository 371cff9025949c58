// Recommendation networks whose tables lie in the flash of storage devices: rows are looked up, added up and updated
// there, and all bits of all tables are those of the golden execution.
#include "graph/frontend/load_network.hpp"
#include "graph/ir/error.hpp"
#include "graph/operators/table.hpp"
#include "train/system/system_executor.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace gradweave::runtime::train {
namespace {

using Kind = SystemCommand::Kind;
using ByName = std::map<std::string, std::vector<float>>;

/// Tables on both storage devices, all layers on the NPU.
SystemConfig system_with(bool reduced, const std::vector<std::uint32_t> &tables = {0, 1}) {
  SystemConfig system = load_system("configs/systems/test2.toml");
  system.partition = PartitionConfig::of_cut(0, {}, 2);
  system.tables = {tables, reduced};
  return system;
}

graph::TrainingOptions options_with(graph::OptimizerKind optimizer, double momentum = 0) {
  graph::TrainingOptions options;
  options.optimizer = optimizer;
  options.momentum = momentum;
  options.weight_decay = 0.01;
  options.sparse_embeddings = true;
  return options;
}

graph::TrainingOptions sgd() { return options_with(graph::OptimizerKind::kSgd); }

graph::Graph network() { return compiler::load_graph("tests/cosim/small_dlrm.graph", 8); }

ByName by_name(const graph::Graph &step, const Living &living) {
  ByName result;
  for (graph::TensorId id = 0; id < living.size(); ++id)
    if (!living[id].empty()) result[step.tensors[id].name] = living[id];
  return result;
}

struct Trained {
  std::string problem; ///< what went wrong, or nothing
  ByName after;        ///< weights, tables and state of the golden execution
  SystemTimes times;   ///< of the last step
  std::map<Kind, std::uint64_t> bytes;
};

Trained train(const SystemConfig &system, const graph::TrainingOptions &training, std::uint64_t steps = 2,
              const SystemOptions &options = {}) {
  const SystemNetwork made = make_system_network(network(), system, system.partition, training);
  const auto feed = synthetic_feed(made.network.graph, 1);
  compiler::CompileOptions compile;
  compile.plans = 3;
  SystemCaches caches;
  SystemExecutor executor(made, system, compile, caches, options);
  Trainer trainer(made.step, training, {RateForm::kConstant, 1e-2, 0, steps}, *feed, 1);
  Trained run;
  for (std::uint64_t s = 0; s < steps && run.problem.empty(); ++s) {
    const StepResult result = trainer.compared_step(executor);
    if (!result.ok()) run.problem = result.difference ? result.difference->text() : result.failures.front();
  }
  run.after = by_name(made.step.graph, trainer.living());
  run.times = executor.planned().times();
  for (const SystemCommand &command : executor.planned().plan().commands())
    run.bytes[command.kind] += command.bytes;
  return run;
}

/// On one device without tables in flash, by the golden execution.
ByName alone(const graph::TrainingOptions &training, std::uint64_t steps) {
  const graph::Graph forward = network();
  const graph::TrainingGraph step = graph::training_graph(forward, graph::operators(), training);
  const auto feed = synthetic_feed(forward, 1);
  const StepExecutor executor(step);
  Trainer trainer(step, training, {RateForm::kConstant, 1e-2, 0, steps}, *feed, 1);
  for (std::uint64_t s = 0; s < steps; ++s)
    trainer.step(executor);
  return by_name(step.graph, trainer.living());
}

TEST(Recommendation, TablesInFlashAreUpdatedToTheBitsOfOneDevice) {
  for (const graph::TrainingOptions &training :
       {sgd(), options_with(graph::OptimizerKind::kSgd, 0.9), options_with(graph::OptimizerKind::kAdamW)}) {
    const ByName expected = alone(training, 4);
    for (const bool reduced : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, momentum {}, {}", to_string(training.optimizer), training.momentum, reduced));
      const Trained run = train(system_with(reduced), training, 4);
      EXPECT_EQ(run.problem, "");
      EXPECT_EQ(run.after, expected);
    }
  }
}

/// Bags of 12 numbers and their gradients, two for each of 8 requests, instead of 5 and 3 rows.
TEST(Recommendation, SumsAreLessOnLinksThanRows) {
  const Trained sums = train(system_with(true), sgd()), rows = train(system_with(false), sgd());
  EXPECT_LT(4 * sums.bytes.at(Kind::kMove), rows.bytes.at(Kind::kMove) + 1);
  EXPECT_LT(sums.times.end, rows.times.end);
  EXPECT_EQ(sums.bytes.at(Kind::kFlash), sums.bytes.at(Kind::kProgram));
}

/// Layers in front of the bags on both storage devices, and parts of the batch that share one look-up.
TEST(Recommendation, PartsOfTheBatchShareTables) {
  SystemConfig system = system_with(true, {1});
  system.partition = PartitionConfig::of_cut(2, {0, 1}, 2);
  EXPECT_EQ(train(system, sgd()).problem, "");
  system.partition.routes = {{1, {0}, {}}, {1, {2}, {}}, {2, {1, 2}, {3}}};
  EXPECT_EQ(train(system, sgd()).problem, "");
  system.partition.micro_batches = 2;
  EXPECT_EQ(train(system, sgd()).problem, "");
}

TEST(Recommendation, ClippingReadsGradientsOfTables) {
  graph::TrainingOptions training = options_with(graph::OptimizerKind::kAdamW);
  training.clip_norm = 0.1;
  const Trained run = train(system_with(true), training);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.after, alone(training, 2));
}

TEST(Recommendation, RandomStallsChangeNoBit) {
  SystemOptions options;
  options.devices.assign(3, {});
  for (DeviceOptions &device : options.devices)
    device.stress = {11, 0.1};
  options.faults.stall_seed = 11;
  options.faults.longest_stall_ps = 300'000;
  const Trained run = train(system_with(true), sgd(), 2, options);
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.after, alone(sgd(), 2));
}

/// The first table begins at block 0 of ssd0; each of its 9 blocks has rows that are looked up.
TEST(Recommendation, ABlockThatIsNotWrittenIsSeen) {
  SystemOptions options;
  options.faults.stale = {{0, 3}};
  const std::string problem = train(system_with(true), sgd(), 1, options).problem;
  EXPECT_NE(problem.find("device 'ssd0', program "), std::string::npos) << problem;
  EXPECT_NE(problem.find("table.next"), std::string::npos) << problem;
}

TEST(Recommendation, ABlockThatFailsIsNamed) {
  SystemOptions options;
  options.faults.blocks = {{1, 0}};
  const std::string problem = train(system_with(true), sgd(), 1, options).problem;
  EXPECT_NE(problem.find("device 'ssd1', flash "), std::string::npos) << problem;
  EXPECT_NE(problem.find("(other_table): block 0 of its flash is unreadable"), std::string::npos) << problem;
}

TEST(Recommendation, WhatCannotBeIsNamed) {
  const auto message = [](const SystemConfig &system, const graph::TrainingOptions &training) -> std::string {
    try {
      train(system, training, 1);
    } catch (const std::exception &error) {
      return error.what();
    }
    return "";
  };
  graph::TrainingOptions dense = sgd();
  dense.sparse_embeddings = false;
  const std::string of_dense = message(system_with(true), dense);
  EXPECT_NE(of_dense.find("table 'table' lies in the flash of device 'ssd0', and 'Sgd' updates all"), std::string::npos)
      << of_dense;
  SystemConfig small = system_with(true);
  small.flashes[0].size_bytes = 8 * kFlashBlock;
  const std::string of_flash = message(small, sgd());
  EXPECT_NE(of_flash.find("the flash of device 'ssd0' is too small"), std::string::npos) << of_flash;
}

/// Rows of 48 bytes: row 85 is in blocks 0 and 1.
TEST(Recommendation, RowsMayLieInTwoBlocks) {
  graph::Tensor table;
  table.name = "table";
  table.shape = graph::Shape{700, 12};
  const TableRows rows = rows_of(table, {85, 3, 85, 699});
  EXPECT_EQ(rows.looked_up, 4U);
  EXPECT_EQ(rows.distinct, 3U);
  EXPECT_EQ(rows.blocks, (std::vector<std::uint32_t>{0, 1, 8}));
  EXPECT_THROW(rows_of(table, {700}), graph::GraphError);
  EXPECT_THROW(rows_of(table, {-1}), graph::GraphError);
}

} // namespace
} // namespace gradweave::runtime::train
