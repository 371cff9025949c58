// Pooling by areas of its own: golden execution's bits, no hazard, and that an image is moved about once.
#include "tests/compiler/pooling/pooling_run.hpp"

#include "sw_models/timing/timing_model.hpp"

namespace gradweave::compiler {
namespace {

class Pooling : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(Pooling, RandomOnesGiveTheBitsOfGoldenExecution) {
  std::size_t compared = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    const std::uint32_t most_kernel = seed % 10 == 0 ? 7 : 4;
    const PoolingGraph pooling = random_pooling(dice, 2 * npu_.lanes() + 3, most_kernel);
    for (const std::size_t which : {0, 1}) {
      const std::string found = pooling_difference(npu_, pooling, which, dice);
      if (found == "it has none") {
        ++refused;
        continue;
      }
      ++compared;
      ASSERT_EQ(found, "") << "seed " << seed << ", op " << which;
    }
  }
  EXPECT_GT(compared, 5 * refused);
}

INSTANTIATE_TEST_SUITE_P(Npus, Pooling, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

const graph::Attributes kThreeByThree{{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                      {"strides", std::vector<std::int64_t>{2, 2}},
                                      {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};

/// ResNet-50's: bytes of beats against those of the tensors' elements.
TEST(PoolingOfResNet, MovesLittleMoreThanItsTensors) {
  const Machine npu = vector_machine("small");
  const PoolingGraph pooling("MaxPool", {4, 112, 112, 64}, kThreeByThree);
  for (const std::size_t which : {0, 1}) {
    const graph::Op &op = pooling.graph.ops[which];
    const OpJobs jobs = lower_op(pooling.graph, op);
    const auto stream =
        section_commands(pooling_areas(pooling.graph, op, npu).value(), SectionPlaces(jobs).addresses, npu, 0);
    const timing::RunResult run = timing::run(npu, stream);
    ASSERT_TRUE(run.ok());
    std::uint64_t bytes = 0;
    for (const JobValue &value : jobs.values)
      if (value.tensor != graph::kNone) bytes += value.elements * SectionPlaces::bytes(value);
    EXPECT_LE((run.counter(isa::Counter::READ_BEATS) + run.counter(isa::Counter::WRITE_BEATS)) * npu.bus_bytes,
              bytes * 15 / 10);
  }
}

graph::Attributes square_window(std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  return {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
          {"strides", std::vector<std::int64_t>{stride, stride}},
          {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}};
}

/// Every two places beside an edge have windows of their own: jobs are as many as taps, not as pairs of them.
TEST(PoolingJobs, OfWideWindowsAreFew) {
  const std::size_t kernel = 13;
  for (const std::string pooling : kPoolings) {
    const PoolingGraph wide(pooling, {1, 13, 13, 4}, square_window(kernel, 1, kernel / 2));
    for (const graph::Op &op : wide.graph.ops)
      EXPECT_LE(lower_op(wide.graph, op).steps.size(), 3 * kernel * kernel) << op.type->name;
  }
}

TEST(PoolingJobs, OfWideWindowsGiveTheBitsOfGoldenExecution) {
  Dice dice(5);
  for (const std::string pooling : kPoolings)
    for (const std::int64_t stride : {1, 2})
      for (const std::uint32_t channels : {1, 9}) {
        const PoolingGraph wide(pooling, {2, 10, 12, channels}, square_window(9, stride, 4));
        for (const char *npu : {"test8v2", "small"})
          for (const std::size_t which : {0, 1})
            EXPECT_EQ(pooling_jobs_difference(vector_machine(npu), wide, which, dice), "")
                << pooling << ", op " << which << ", stride " << stride << ", channels " << channels << ", " << npu;
      }
}

/// Taps of one row are further apart than a place has room for.
TEST(PoolingJobs, OfManyChannelsLoadTapsByThemselves) {
  Dice dice(6);
  for (const std::string pooling : kPoolings) {
    const PoolingGraph deep(pooling, {2, 7, 7, 1024}, square_window(7, 1, 0));
    for (const std::size_t which : {0, 1})
      EXPECT_EQ(pooling_jobs_difference(vector_machine("test8v2"), deep, which, dice), "") << pooling;
  }
}

/// What is no operator of windows has no areas, nor has one whose rows are beyond the scratchpad.
TEST(PoolingRefusals, OtherOperatorsAndSmallScratchpads) {
  const Machine npu = vector_machine("test8v2");
  graph::Graph graph;
  graph::Builder build(graph, graph::operators());
  const graph::TensorId x = build.input("x", graph::ElementType::kBf16, {1, 4, 4, 8});
  build.add("Relu", {x});
  EXPECT_FALSE(pooling_areas(graph, graph.ops[0], npu));
  const PoolingGraph large("MaxPool", {1, 8, 8, 4000}, kThreeByThree);
  EXPECT_FALSE(pooling_areas(large.graph, large.graph.ops[0], npu));
  Machine none = npu;
  none.vector_groups = 0;
  const PoolingGraph few("MaxPool", {1, 8, 8, 4}, kThreeByThree);
  EXPECT_TRUE(pooling_areas(few.graph, few.graph.ops[0], npu));
  EXPECT_FALSE(pooling_areas(few.graph, few.graph.ops[0], none));
}

/// A wait that is left out is seen.
TEST(PoolingFaults, AMissingWaitIsAHazard) {
  const Machine npu = vector_machine("test8v2");
  const PoolingGraph pooling("MaxPool", {2, 9, 9, 11}, kThreeByThree);
  const graph::Op &op = pooling.graph.ops[1];
  const SectionPlaces places(lower_op(pooling.graph, op));
  const auto stream = section_commands(pooling_areas(pooling.graph, op, npu).value(), places.addresses, npu, 0);
  ASSERT_EQ(first_hazard(npu, stream), "");
  std::size_t waits = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    isa::Decoded command = *isa::decode(stream[i]);
    if (command.sync.waits[0].semaphore == isa::kNoSemaphore) continue;
    ++waits;
    std::vector<isa::Command> changed = stream;
    command.sync.waits = {};
    changed[i] = isa::encode(command);
    EXPECT_NE(first_hazard(npu, changed), "") << "command " << i;
  }
  EXPECT_GT(waits, 10U);
}

} // namespace
} // namespace gradweave::compiler
