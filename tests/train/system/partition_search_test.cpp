// Searches for a partition: what they are never slower than, and that they can be repeated.
#include "train/system/partition_search.hpp"

#include "graph/frontend/load_network.hpp"
#include "graph/ir/error.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gradweave::runtime::train {
namespace {

graph::Graph network(const std::string &batch) {
  return graph::read_graph("graph \"net\"\ninput x bf16 [" + batch + ", 24]\ninput labels int32 [" + batch + R"(]
parameter w1 [24, 32] init "kaiming"
parameter w2 [32, 40] init "kaiming"
parameter w3 [40, 4] init "kaiming"
p1 = Gemm(x, w1)
h1 = Relu(p1)
p2 = Gemm(h1, w2)
h2 = Relu(p2)
logits = Gemm(h2, w3)
cost = SoftmaxCrossEntropy(logits, labels)
loss cost
)",
                           "net.graph", graph::operators());
}

compiler::CompileOptions few_plans() {
  compiler::CompileOptions options;
  options.plans = 3;
  return options;
}

const TriedPartition &tried_as(const PartitionSearch &search, const std::string &what) {
  const auto found = std::find_if(search.tried.begin(), search.tried.end(),
                                  [&](const TriedPartition &t) { return t.what.find(what) != std::string::npos; });
  if (found == search.tried.end()) throw std::logic_error("nothing tried as " + what);
  return *found;
}

TEST(PartitionSearch, IsNeverSlowerThanWhatIsSimple) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  for (const std::string batch : {"8", "64"}) {
    SystemCaches caches;
    const PartitionSearch search = search_partition(network(batch), system, {}, few_plans(), 80, caches);
    EXPECT_LE(search.evaluations, 80U);
    EXPECT_EQ(search.found().what, "found");
    for (const char *what : {"ssd0 alone", "ssd1 alone", "npu alone", "images by speed", "cut ", "as the file has it"})
      EXPECT_LE(search.found().ps, tried_as(search, what).ps) << what << ", batch " << batch;
    EXPECT_LE(search.tried[0].ps, search.tried[1].ps); // the fastest device alone
    // The time is that of the step.
    const SystemNetwork made = make_system_network(network(batch), system, search.found().partition, {});
    const ProductPlan products = plan_products(made.step.graph, machine_of(made, system));
    EXPECT_EQ(SystemStep(made, products, system, few_plans(), caches).times().end, search.found().ps);
    const PartitionSearch again = search_partition(network(batch), system, {}, few_plans(), 80, caches);
    EXPECT_EQ(to_string(again.found().partition, system), to_string(search.found().partition, system));
  }
}

/// With one device alone before all else there is nothing faster a change away from that; there is from a cut.
TEST(PartitionSearch, GoesOnFromCutsThatAreSlowerThanADeviceAlone) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  SystemCaches caches;
  const graph::Graph conv = compiler::load_graph("tests/cosim/small_conv.graph", 32);
  const PartitionSearch search = search_partition(conv, system, {}, few_plans(), 200, caches);
  EXPECT_LT(tried_as(search, "npu alone").ps, tried_as(search, "cut ").ps);
  EXPECT_LT(search.found().ps * 10, tried_as(search, "npu alone").ps * 9);
  EXPECT_GT(search.found().partition.routes.size(), 1U);
}

TEST(PartitionSearch, TimesNoMoreStepsThanItMay) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  SystemCaches caches;
  EXPECT_EQ(search_partition(network("8"), system, {}, few_plans(), 2, caches).evaluations, 2U);
}

/// Nine images: neither two parts nor micro-batches divide them.
TEST(PartitionSearch, LeavesOutWhatCannotBe) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  SystemCaches caches;
  const PartitionSearch search = search_partition(network("9"), system, {}, few_plans(), 80, caches);
  EXPECT_THROW(tried_as(search, "as the file has it"), std::logic_error);
  EXPECT_LE(search.found().ps, tried_as(search, "npu alone").ps);
}

TEST(PartitionSearch, SaysWhyNothingCanBe) {
  SystemConfig system = load_system("configs/systems/test2.toml");
  for (DeviceConfig &device : system.devices)
    device.machine.memory.size_bytes = 4096;
  SystemCaches caches;
  try {
    search_partition(network("8"), system, {}, few_plans(), 80, caches);
    FAIL() << "passed";
  } catch (const std::invalid_argument &error) {
    EXPECT_NE(std::string(error.what()).find("no partition of network 'net' can be trained on its devices: "),
              std::string::npos)
        << error.what();
  }
}

TEST(PartitionConfig, AsPeopleReadIt) {
  const SystemConfig system = load_system("configs/systems/test2.toml");
  PartitionConfig partition;
  partition.routes = {{1, {0, 1, 2}, {1, 3}}, {2, {2}, {}}};
  partition.micro_batches = 4;
  EXPECT_EQ(to_string(partition, system),
            "ssd0 0-0, ssd1 1-2, npu 3-; 2 x npu 0-; 4 micro-batches, backward_first, eager_moves");
}

} // namespace
} // namespace gradweave::runtime::train
