// Training on several NPUs in one simulation: every tensor of every step as the golden execution has it, and every
// command at the time that the whole system's timing model says.
#include "graph/frontend/load_network.hpp"
#include "graph/ir/error.hpp"
#include "sw_models/config/config_error.hpp"
#include "train/system/partition_search.hpp"
#include "train/system/system_executor.hpp"
#include "train/trainer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace gradweave::runtime::train {
namespace {

SystemConfig system_with(std::uint32_t cut) {
  SystemConfig system = load_system("configs/systems/test2.toml");
  system.partition = PartitionConfig::of_cut(cut, {0, 1}, 2);
  return system;
}

graph::Graph network(std::uint32_t batch = 8) { return compiler::load_graph("tests/cosim/small_conv.graph", batch); }

compiler::CompileOptions few_plans() {
  compiler::CompileOptions options;
  options.plans = 3;
  return options;
}

/// A few steps on the system; the message of what went wrong, or nothing.
std::string train(const SystemConfig &system, std::uint64_t steps, const SystemOptions &options = {},
                  Living *living = nullptr) {
  const graph::TrainingOptions training;
  const SystemNetwork made = make_system_network(network(), system, system.partition, training);
  const auto feed = synthetic_feed(made.network.graph, 1);
  SystemCaches caches;
  SystemExecutor executor(made, system, few_plans(), caches, options);
  Trainer trainer(made.step, training, {RateForm::kConstant, 1e-2, 0, steps}, *feed, 1);
  for (std::uint64_t s = 0; s < steps; ++s) {
    const StepResult result = trainer.compared_step(executor);
    if (!result.ok()) return result.difference ? result.difference->text() : result.failures.front();
    EXPECT_GT(result.elements, 0U);
  }
  if (living != nullptr) *living = trainer.living();
  return {};
}

/// The same by the golden execution alone, of the partitioned network and so of its reduction plan.
Living golden(const SystemConfig &system, std::uint64_t steps) {
  const graph::TrainingOptions training;
  const SystemNetwork made = make_system_network(network(), system, system.partition, training);
  const auto feed = synthetic_feed(made.network.graph, 1);
  const StepExecutor executor(made.step);
  Trainer trainer(made.step, training, {RateForm::kConstant, 1e-2, 0, steps}, *feed, 1);
  for (std::uint64_t s = 0; s < steps; ++s)
    trainer.step(executor);
  return trainer.living();
}

TEST(SystemsTraining, TenStepsOnTwoStorageDevicesAndAnNpuGiveTheGoldenWeights) {
  const SystemConfig system = system_with(2);
  Living living;
  EXPECT_EQ(train(system, 10, {}, &living), "");
  EXPECT_EQ(living, golden(system, 10));
}

TEST(SystemsTraining, EveryCutGivesTheGoldenBits) {
  for (std::uint32_t cut = 0; cut < 5; ++cut)
    EXPECT_EQ(train(system_with(cut), 1), "") << "cut " << cut;
}

/// Weights and state, by name, as far as the network itself has them.
std::map<std::string, std::vector<float>> by_name(const SystemNetwork &made, const Living &living) {
  std::map<std::string, std::vector<float>> result;
  for (graph::TensorId id = 0; id < living.size(); ++id)
    if (!living[id].empty()) result[made.step.graph.tensors[id].name] = living[id];
  return result;
}

std::map<std::string, std::vector<float>> golden_by_name(const SystemConfig &system, std::uint64_t steps) {
  return by_name(make_system_network(network(), system, system.partition, {}), golden(system, steps));
}

/// Whatever the order in which devices do them, and what the number is.
TEST(SystemsTraining, MicroBatchesInAPipelineGiveTheBitsOfWholeBatches) {
  SystemConfig system = system_with(2);
  const auto whole = golden_by_name(system, 2);
  for (const std::uint32_t micro_batches : {2U, 4U})
    for (const bool backward_first : {false, true}) {
      system.partition.micro_batches = micro_batches;
      system.partition.order = {backward_first, backward_first};
      EXPECT_EQ(train(system, 2), "") << micro_batches << " " << to_string(system.partition.order);
      EXPECT_EQ(golden_by_name(system, 2), whole) << micro_batches;
    }
}

TEST(SystemsTraining, OneStorageDeviceGivesTheBitsOfOneNpu) {
  SystemConfig system = system_with(0);
  const auto alone = golden_by_name(system, 2);
  for (const std::uint32_t cut : {1U, 3U})
    for (const std::uint32_t micro_batches : {1U, 2U, 8U}) {
      system.partition = PartitionConfig::of_cut(cut, {1}, 2);
      system.partition.micro_batches = micro_batches;
      EXPECT_EQ(golden_by_name(system, 2), alone) << cut << ", " << micro_batches;
      EXPECT_EQ(train(system, 1), "") << cut << ", " << micro_batches;
    }
}

/// Several cuts, other ones for each part, parts of other sizes, whole images on one device.
TEST(SystemsTraining, RoutesMayDiffer) {
  SystemConfig system = system_with(2);
  system.partition.routes = {{1, {0, 1, 2}, {1, 3}}, {2, {1, 2}, {2}}, {1, {2}, {}}};
  system.partition.micro_batches = 2;
  Living living;
  EXPECT_EQ(train(system, 2, {}, &living), "");
  EXPECT_EQ(living, golden(system, 2));
  system.partition.routes = {{1, {0}, {}}, {3, {2}, {}}, {4, {1}, {}}};
  system.partition.micro_batches = 1;
  EXPECT_EQ(train(system, 1), "");
}

TEST(SystemsTraining, WhatASearchFindsIsTrainedExactly) {
  SystemConfig system = system_with(2);
  SystemCaches caches;
  system.partition = search_partition(network(), system, {}, few_plans(), 60, caches).found().partition;
  EXPECT_EQ(train(system, 1), "") << to_string(system.partition, system);
}

TEST(SystemsTraining, RandomStallsChangeNoBit) {
  const SystemConfig system = system_with(2);
  SystemOptions options;
  options.devices.assign(3, {});
  for (DeviceOptions &device : options.devices)
    device.stress = {11, 0.1};
  options.faults.stall_seed = 11;
  options.faults.longest_stall_ps = 300'000;
  Living living;
  EXPECT_EQ(train(system, 2, options, &living), "");
  EXPECT_EQ(living, golden(system, 2));
}

TEST(SystemsTraining, FaultsNameDeviceLayerAndCommand) {
  SystemOptions packet;
  packet.faults.packets = {{0, 2}};
  const std::string of_link = train(system_with(2), 1, packet);
  EXPECT_NE(of_link.find("device 'ssd0' to "), std::string::npos) << of_link;
  EXPECT_NE(of_link.find("wrong CRC"), std::string::npos) << of_link;
  SystemOptions block;
  block.faults.blocks = {{1, 0}};
  const std::string of_flash = train(system_with(2), 1, block);
  EXPECT_NE(of_flash.find("device 'ssd1', flash "), std::string::npos) << of_flash;
  EXPECT_NE(of_flash.find("images.part1"), std::string::npos) << of_flash;
  SystemOptions bus;
  bus.devices.assign(3, {});
  bus.devices[2].faults = {{BusFault::Kind::kSlvErr, false, 0, 64}};
  const std::string of_npu = train(system_with(2), 1, bus);
  EXPECT_NE(of_npu.find("device 'npu', run "), std::string::npos) << of_npu;
  EXPECT_NE(of_npu.find("conv3"), std::string::npos) << of_npu;
}

template <class Error> std::string message_of(const SystemConfig &system, std::uint32_t batch = 8) {
  try {
    const SystemNetwork made = make_system_network(network(batch), system, system.partition, {});
    const ProductPlan products = plan_products(made.step.graph, machine_of(made, system));
    SystemCaches caches;
    const SystemStep step(made, products, system, few_plans(), caches);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(SystemsTraining, WhatDoesNotFitIsNamed) {
  EXPECT_NE(message_of<ConfigError>(system_with(5)).find("cut = 5: network 'small_conv' has 5 layers"),
            std::string::npos);
  EXPECT_NE(message_of<graph::GraphError>(system_with(2), 5)
                .find("the batch of input 'images', 5, is not divisible by the 2 shares"),
            std::string::npos);
  SystemConfig small = system_with(2);
  small.devices[1].machine.memory.size_bytes = 16384; // for a layer
  const std::string of_layer = message_of<compiler::CompileError>(small);
  EXPECT_NE(of_layer.find("device 'ssd1': layer 'conv1.product.part1': needs "), std::string::npos) << of_layer;
  small.devices[1].machine.memory.size_bytes = 65536; // for the step
  const std::string of_step = message_of<std::invalid_argument>(small);
  EXPECT_NE(of_step.find("the memory of device 'ssd1' is too small"), std::string::npos) << of_step;
}

} // namespace
} // namespace gradweave::runtime::train
