// Whole steps on an NPU: every tensor as the golden execution has it, and what goes wrong is seen.
#include "tests/train/convolution_networks.hpp"
#include "tests/train/npu/npu_steps.hpp"
#include "train/data/tensor_bytes.hpp"
#include "train/npu/plan/order/weight_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace gradweave::runtime::train {
namespace {

graph::TrainingOptions sgd() {
  graph::TrainingOptions options;
  options.optimizer = graph::OptimizerKind::kSgd;
  options.momentum = 0.9;
  options.weight_decay = 0;
  return options;
}

/// What making something throws.
std::string refusal_of(const std::function<void()> &make) {
  try {
    make();
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

/// Three steps on the functional model.
void expect_golden(const graph::Graph &network, const graph::TrainingOptions &options, const char *npu) {
  NpuSteps steps(network, options, make_functional_device(npu_of(npu)), Backend::kFunctional);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(steps.next(), "") << "step " << i;
    EXPECT_EQ(steps.last.shares.host_ops, 0U);
    EXPECT_EQ(steps.last.unchecked, 0U);
    EXPECT_GE(double(steps.last.products.multiply_adds), steps.last.shares.device_multiply_adds); // padding counts
    std::size_t computed = 0;
    for (const graph::Tensor &tensor : steps.step.graph.tensors)
      computed += tensor.computed() ? 1 : 0;
    EXPECT_GE(steps.last.tensors, computed);
  }
}

TEST(NpuStep, PerceptronsAreGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    expect_golden(perceptron(6, {20, 13, 9, 5}), sgd(), npu);
    expect_golden(perceptron(6, {20, 13, 9, 5}), {}, npu);
  }
}

/// Of each step a mask of its own, which the way back makes again.
TEST(NpuStep, DropoutIsGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8"}) {
    expect_golden(perceptron(6, {20, 13, 9, 5}, 0.4), sgd(), npu);
    expect_golden(perceptron(1, {20, 70, 1, 5}, 0.25), {}, npu);
  }
}

/// Of which lengths are tried one by one up to 16, and doubled ones beyond.
TEST(NpuStep, LongRunsBehindAProductAreGolden) {
  for (const int count : {16, 17, 33, 40}) {
    graph::Graph graph;
    graph.name = "run";
    graph::Builder build(graph, graph::operators());
    graph::TensorId x = add_dense(build, build.input("images", graph::ElementType::kFp32, {5, 9}), 7, "first");
    for (int i = 0; i < count; ++i)
      x = build.add("Tanh", {x}, {}, fmt::format("tanh{}", i));
    add_loss(build, add_dense(build, x, 3, "last"), 5);
    for (const bool keep_all : {false, true}) {
      NpuSteps steps(graph, sgd(), make_functional_device(npu_of("test8v2")), Backend::kFunctional, keep_all);
      ASSERT_EQ(steps.next(), "") << count;
      EXPECT_EQ(steps.last.inside == 0, keep_all) << count;
    }
  }
}

TEST(NpuStep, ConvolutionsAreGolden) {
  expect_golden(compiler::load_graph("models/lenet.graph", 2), {}, "test8v2");
  expect_golden(compiler::load_graph("models/lenet.graph", 3), sgd(), "test8v2");
}

/// Images where they can be read, and im2col, phases and transposed weights by moves and jobs where not; depthwise ones
/// on the vector unit.
TEST(NpuStep, AnyConvolutionIsGolden) {
  std::size_t staged = 0, depthwise = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Dice dice(seed);
    Convolution conv = seed % 3 == 0   ? random_convolution(dice)
                       : seed % 3 == 1 ? random_image_convolution(dice)
                                       : random_strided_convolution(dice);
    if (seed % 8 < 2) conv.groups = conv.out_channels = conv.channels;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << conv);
    const graph::Graph network = around(conv, dice);
    const graph::TrainingGraph step = graph::training_graph(network, graph::operators(), sgd());
    if (!refused_ops(step.graph, plan_device_products(step.graph, npu_of("test8v2"))).empty()) continue;
    NpuSteps steps(network, sgd(), make_functional_device(npu_of("test8v2")), Backend::kFunctional);
    ASSERT_EQ(steps.next(), "");
    for (const StepSection &section : steps.executor.stream().sections) {
      staged += section.what.find("staging") != std::string::npos ? 1 : 0;
      depthwise += section.what.find("depthwise") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(staged, 10U);
  EXPECT_GT(depthwise, 3U);
}

TEST(NpuStep, AttentionAndEmbeddingsAreGolden) {
  graph::TrainingOptions sparse;
  sparse.sparse_embeddings = true;
  expect_golden(small_bert(), sparse, "test8v2");
  expect_golden(small_bert(), {}, "test8v2");
}

/// Rows of an embedding's gradient that no update reads are not written.
TEST(NpuStep, GradientsOfEmbeddingsHaveTheRowsThatAreUpdated) {
  graph::TrainingOptions options;
  options.sparse_embeddings = true;
  NpuSteps steps(small_bert(), options, make_functional_device(npu_of("test8v2")), Backend::kFunctional);
  ASSERT_EQ(steps.next(), "");
  std::size_t by_row = 0;
  for (graph::OpId op = 0; op < steps.step.graph.ops.size(); ++op)
    by_row += steps.executor.planned().rows_of(op) != graph::kNone ? 1 : 0;
  EXPECT_EQ(by_row, 3U);
  options.clip_norm = 0.1; // whose norm is that of all rows
  NpuSteps clipped(small_bert(), options, make_functional_device(npu_of("test8v2")), Backend::kFunctional);
  ASSERT_EQ(clipped.next(), "");
  for (graph::OpId op = 0; op < clipped.step.graph.ops.size(); ++op)
    EXPECT_EQ(clipped.executor.planned().rows_of(op), graph::kNone);
}

TEST(NpuStep, AllTensorsMayBeKept) {
  for (const bool keep_all : {false, true}) {
    NpuSteps steps(small_bert(), {}, make_functional_device(npu_of("test8v2")), Backend::kFunctional, keep_all);
    ASSERT_EQ(steps.next(), "");
    EXPECT_EQ(steps.last.inside == 0, keep_all);
  }
}

/// Elements that no LOAD or STORE knows are not counted as equal. A norm of all gradients is one of all rows.
TEST(NpuStep, CountsOnlyTheRowsOfGradientsThatReachMemory) {
  for (const bool sparse : {false, true})
    for (const double clip_norm : {0.0, 0.1}) {
      graph::TrainingOptions options;
      options.sparse_embeddings = sparse;
      options.clip_norm = clip_norm;
      NpuSteps steps(small_bert(), options, make_functional_device(npu_of("test8v2")), Backend::kFunctional, true);
      ASSERT_EQ(steps.next(), "");
      std::uint64_t all = 0;
      for (const graph::Tensor &tensor : with_lasting_copies(steps.step).step.graph.tensors)
        if (tensor.computed() || tensor.role == graph::Role::kParameter || tensor.role == graph::Role::kState)
          all += tensor.shape.elements();
      EXPECT_EQ(steps.last.elements < all, clip_norm == 0);
      EXPECT_LE(steps.last.elements, all);
    }
}

/// Too little memory for all tensors at once.
TEST(NpuStep, TensorsMakeRoomForOthers) {
  Machine npu = npu_of("test8v2");
  NpuSteps all(small_bert(), {}, make_functional_device(npu), Backend::kFunctional);
  npu.memory.size_bytes = all.executor.planned().room() - 4096;
  NpuSteps steps(small_bert(), {}, make_functional_device(npu), Backend::kFunctional);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(steps.next(), "");
    EXPECT_GT(steps.last.unchecked, 0U);
  }
  npu.memory.size_bytes = all.executor.planned().memory_bytes();
  EXPECT_NE(refusal_of([&] {
              NpuSteps(small_bert(), {}, make_functional_device(npu), Backend::kFunctional, true);
            }).find("bytes of device memory"),
            std::string::npos);
}

/// How long a stream is turns out when the rows are known that it looks up.
TEST(NpuStep, AStreamForWhichThereIsNoRoomIsRefused) {
  Machine npu = npu_of("test8v2");
  NpuSteps all(small_bert(), {}, make_functional_device(npu), Backend::kFunctional, true);
  ASSERT_EQ(all.next(), "");
  for (const graph::TensorId id : all.executor.planned().index_tensors()) // not of positions, which are a constant
    EXPECT_EQ(all.step.graph.tensors[id].role, graph::Role::kInput);
  npu.memory.size_bytes =
      all.executor.planned().memory_bytes() + (all.executor.stream().commands.size() - 1) * isa::kCommandBytes;
  NpuSteps steps(small_bert(), {}, make_functional_device(npu), Backend::kFunctional, true);
  EXPECT_NE(refusal_of([&] { steps.next(); }).find("bytes of device memory"), std::string::npos);
}

/// Sections are planned for places that lie beyond the end of memory as long as none is used again.
TEST(NpuStep, PlansSectionsBeforeTensorsHaveRoom) {
  Machine npu = npu_of("test8v2");
  NpuSteps all(small_bert(), {}, make_functional_device(npu), Backend::kFunctional);
  std::uint64_t lasting = 0; // with less than that nothing is planned
  for (const graph::Tensor &tensor : all.step.graph.tensors)
    if (!tensor.computed()) lasting += bytes_of_tensor(tensor);
  npu.memory.size_bytes = std::max(lasting, all.executor.planned().room() / 4);
  EXPECT_NE(refusal_of([&] {
              NpuSteps(small_bert(), {}, make_functional_device(npu), Backend::kFunctional);
            }).find("bytes of device memory"),
            std::string::npos);
}

TEST(NpuStep, ClippedGradientsAreGolden) {
  graph::TrainingOptions options;
  options.clip_norm = 0.1;
  expect_golden(perceptron(6, {20, 13, 9, 5}), options, "test8v2");
}

/// Parameters and moments have no values behind such a step; loss, cycles and what is watched are as before.
TEST(NpuStep, WhoseEndIsUnreadGivesTheSameLossAndCycles) {
  const auto run = [](bool unread) {
    auto steps = std::make_unique<NpuSteps>(perceptron(6, {20, 13, 9, 5}), sgd(), make_timing_device(npu_of("test8v2")),
                                            Backend::kTiming);
    steps->executor.watch({steps->step.graph.updates.front().next});
    EXPECT_EQ(steps->next(), "");
    if (unread) steps->executor.end_unread();
    EXPECT_EQ(steps->next(), "");
    return steps;
  };
  const auto whole = run(false), part = run(true);
  EXPECT_EQ(part->last.loss(), whole->last.loss());
  EXPECT_EQ(part->last.products.cycles, whole->last.products.cycles);
  EXPECT_EQ(part->last.unchecked, whole->last.unchecked);
  ASSERT_EQ(part->last.watched.size(), 1U);
  EXPECT_EQ(part->last.watched[0].real, whole->last.watched[0].real);
  const graph::TensorId parameter = whole->step.graph.updates.front().tensor;
  EXPECT_FALSE(whole->trainer.living()[parameter].empty());
  EXPECT_TRUE(part->trainer.living()[parameter].empty());
}

TEST(NpuStep, WhoseEndIsUnreadIsComparedInFullWhereThereIsData) {
  NpuSteps steps(perceptron(6, {20, 13, 9, 5}), sgd(), make_functional_device(npu_of("test8v2")), Backend::kFunctional);
  ASSERT_EQ(steps.next(), "");
  const std::uint64_t elements = steps.last.elements;
  steps.executor.end_unread();
  ASSERT_EQ(steps.next(), "");
  EXPECT_EQ(steps.last.elements, elements);
}

TEST(NpuStep, OnTheTimingModelThereAreCyclesAndNoBits) {
  NpuSteps steps(perceptron(6, {20, 13, 9, 5}), {}, make_timing_device(npu_of("test8v2")), Backend::kTiming);
  ASSERT_EQ(steps.next(), "");
  EXPECT_EQ(steps.last.tensors, 0U);
  EXPECT_GT(steps.last.unchecked, 0U);
  ASSERT_TRUE(steps.last.cycles);
  OperatorCycles sum;
  for (const OperatorCycles &row : steps.last.cycles->operators) {
    sum.cycles += row.cycles;
    sum.read_bytes += row.read_bytes;
    sum.write_bytes += row.write_bytes;
  }
  EXPECT_EQ(sum.cycles, steps.last.products.cycles);
  EXPECT_EQ(sum.read_bytes, steps.last.products.read_bytes);
  EXPECT_EQ(sum.write_bytes, steps.last.products.write_bytes);
}

/// The op, and what to do.
TEST(NpuStep, AnOpThatNoStreamComputesIsNamed) {
  graph::Graph network = graph::read_graph(R"(graph "padding"
input x fp32 [1, 1, 1, 1]
input taps fp32 [1, 1, 1, 1, 2]
input target fp32 [1, 2, 3, 2]
parameter w [1, 1, 1, 1, 1] init "xavier"
h = Conv(x, w)
s = Conv(h, taps) pads=[1, 1, 1, 1] strides=[2, 1]
cost = MeanSquaredError(s, target)
loss cost
)",
                                           "padding.graph", graph::operators());
  const std::string refusal =
      refusal_of([&] { NpuSteps(network, sgd(), make_functional_device(npu_of("test8v2")), Backend::kFunctional); });
  EXPECT_NE(refusal.find("(--operators host): 'd(h)': no tap meets a pixel"), std::string::npos) << refusal;
}

/// What two steps on a device with changed commands end with.
std::string problem_with(const ChangingDevice::Change &change) {
  NpuSteps steps(perceptron(6, {20, 13, 9, 5}), sgd(), std::make_unique<ChangingDevice>(npu_of("test8v2"), change),
                 Backend::kFunctional);
  const std::string first = steps.next();
  return first.empty() ? steps.next() : first;
}

bool is_dma(const isa::Command &command, bool store) {
  return command.get(isa::field::OPCODE) == static_cast<std::uint32_t>(store ? isa::Opcode::STORE : isa::Opcode::LOAD);
}

/// Of the n-th LOAD or STORE, from the end if `back`.
isa::Command &nth(std::vector<isa::Command> &stream, bool store, std::size_t n) {
  for (isa::Command &command : stream)
    if (is_dma(command, store) && n-- == 0) return command;
  throw std::logic_error("there are not as many");
}

/// The mask of another step, or of another seed.
TEST(NpuStepFaults, AnotherKeyOfDropoutIsSeen) {
  for (const std::size_t word : {0U, 1U}) {
    const graph::Graph network = perceptron(6, {20, 13, 9, 5}, 0.4);
    const graph::TrainingGraph step = graph::training_graph(network, graph::operators(), sgd());
    std::uint64_t key = 0;
    const auto change = [&](std::vector<isa::Command> &, Device &device) {
      std::int32_t number = 0;
      device.copy_out(key + word * sizeof number, &number, sizeof number);
      ++number;
      device.copy_in(key + word * sizeof number, &number, sizeof number);
    };
    NpuSteps steps(network, sgd(), std::make_unique<ChangingDevice>(npu_of("test8v2"), change), Backend::kFunctional);
    key = steps.executor.planned().memory().places[step.graph.find("key")].address;
    EXPECT_NE(steps.next().find("drop1"), std::string::npos);
  }
}

TEST(NpuStepFaults, AnAddressThatIsOffByAnElementIsSeen) {
  for (const bool store : {false, true})
    for (const std::size_t n : {0U, 5U, 20U})
      EXPECT_NE(problem_with([&](std::vector<isa::Command> &stream, Device &) {
                  isa::Command &command = nth(stream, store, n);
                  command.set(isa::field::DRAM_ADDR_LO, command.get(isa::field::DRAM_ADDR_LO) + 4);
                }),
                "")
          << (store ? "STORE " : "LOAD ") << n;
}

TEST(NpuStepFaults, AResultThatIsNotStoredIsSeen) {
  // To a place that nobody reads: as if the section had been left out.
  const std::string problem = problem_with([](std::vector<isa::Command> &stream, Device &device) {
    for (isa::Command &command : stream)
      if (is_dma(command, true) &&
          command.get(isa::field::DRAM_ADDR_LO) == nth(stream, true, 30).get(isa::field::DRAM_ADDR_LO))
        command.set(isa::field::DRAM_ADDR_LO, static_cast<std::uint32_t>(device.config().memory.size_bytes / 4));
  });
  EXPECT_NE(problem.find("differ"), std::string::npos) << problem;
}

TEST(NpuStepFaults, AParameterOfTheStepBeforeIsSeen) {
  // The second step finds what the first one began with.
  int runs = 0;
  std::vector<std::uint8_t> before;
  const std::string problem = problem_with([&](std::vector<isa::Command> &, Device &device) {
    if (runs++ == 0) {
      before.resize(4096);
      device.copy_out(0, before.data(), before.size());
    } else {
      device.copy_in(0, before.data(), before.size());
    }
  });
  EXPECT_NE(problem.find("differ"), std::string::npos) << problem;
}

TEST(NpuStepFaults, AStopNamesOpAndCommand) {
  const std::string problem =
      problem_with([](std::vector<isa::Command> &stream, Device &) { nth(stream, false, 3).set(isa::field::ROWS, 0); });
  EXPECT_NE(problem.find("the NPU stopped"), std::string::npos) << problem;
  EXPECT_NE(problem.find("op '"), std::string::npos) << problem;
}

std::string refusal_of(const graph::Graph &network, const graph::TrainingOptions &options, const char *npu) {
  return refusal_of([&] { NpuSteps(network, options, make_functional_device(npu_of(npu)), Backend::kFunctional); });
}

TEST(NpuStepRefusals, SayWhatIsMissing) {
  EXPECT_NE(refusal_of(perceptron(2, {4, 3}), {}, "test8").find("has no vector unit"), std::string::npos);
  graph::TrainingOptions accumulate;
  accumulate.accumulate = 2;
  EXPECT_NE(refusal_of(perceptron(2, {4, 3}), accumulate, "test8v2").find("it goes on with a sum"), std::string::npos);
}

TEST(NpuStepRefusals, ADeviceHasToBeNew) {
  auto device = make_functional_device(npu_of("test8v2"));
  device->allocate(100);
  EXPECT_THROW(NpuSteps(perceptron(2, {4, 3}), {}, std::move(device), Backend::kFunctional), DeviceError);
}

} // namespace
} // namespace gradweave::runtime::train
