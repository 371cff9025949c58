// A step with its products on a device: every tensor as the golden execution has it, and faults of the device are seen.
#include "train/step_executor.hpp"

#include "graph/frontend/load_network.hpp"
#include "graph/text/read.hpp"
#include "tests/train/networks.hpp"
#include "train/rate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gradweave::runtime::train {
namespace {

/// Does to another device what its parts say.
class FaultyDevice final : public Device {
public:
  FaultyDevice(std::unique_ptr<Device> under, std::uint64_t flip_at, bool shift)
      : Device(under->config(), {}), under_(std::move(under)), flip_at_(flip_at), shift_(shift) {
    under_->allocate(under_->config().memory.size_bytes / 2);
  }
  const std::vector<timing::CommandTimes> &command_times() const override { return under_->command_times(); }
  std::uint64_t now() const override { return under_->now(); }

private:
  void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override {
    // A row of an operand that lies an element too far back.
    if (shift_ && bytes < 200 && bytes > 4 && addr % 4096 != 0)
      under_->copy_in(addr, static_cast<const std::uint8_t *>(data) + 2, bytes - 2);
    else
      under_->copy_in(addr, data, bytes);
  }
  void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) override {
    under_->copy_out(addr, data, bytes);
    if (++reads_ == flip_at_) static_cast<std::uint8_t *>(data)[bytes - 1] ^= 0x80U;
  }
  void do_submit(std::uint64_t, const std::vector<isa::Command> &stream) override { under_->submit(stream); }
  void do_open(std::uint64_t, std::uint32_t places) override { under_->open(places); }
  std::uint64_t do_append(const std::vector<isa::Command> &commands, std::uint32_t) override {
    return under_->append(commands);
  }
  std::uint64_t do_close() override { return under_->close(); }
  bool do_advance(std::uint64_t cycle) override { return under_->advance(cycle); }
  std::optional<timing::Mark> do_take_mark() override { return under_->take_mark(); }
  RunStatus do_wait(const ProgressFunction &progress) override { return under_->wait(progress); }
  Counters do_read_counters() override { return under_->read_counters(); }
  void do_reset() override { under_->reset(); }

  std::unique_ptr<Device> under_;
  std::uint64_t flip_at_, reads_ = 0;
  bool shift_;
};

/// Steps of a small perceptron.
class Steps {
public:
  explicit Steps(const graph::TrainingOptions &options = {}) : Steps(perceptron(6, {20, 13, 9, 5}), options) {}
  explicit Steps(graph::Graph network, const graph::TrainingOptions &options = {})
      : forward(std::move(network)), options_(options),
        step(graph::training_graph(forward, graph::operators(), options)), feed(synthetic_feed(forward, 3)),
        golden(initial_living(step.graph, 1)), device(golden) {}

  std::vector<std::vector<Fed>> batches(std::uint64_t number) const {
    std::vector<std::vector<Fed>> all;
    for (std::uint64_t b = 0; b < step.micro_batches.size(); ++b)
      all.push_back(feed->batch(number * step.micro_batches.size() + b));
    return all;
  }
  std::vector<float> constants(std::uint64_t number) const {
    return step_constants(options_, {RateForm::kConstant, 0.01, 0, 10}, number);
  }

  graph::Graph forward;
  graph::TrainingOptions options_;
  graph::TrainingGraph step;
  std::unique_ptr<Feed> feed;
  Living golden, device;
};

ProductOptions product_options(Backend backend, compiler::Schedule schedule = compiler::Schedule::kRearrange) {
  ProductOptions options;
  options.backend = backend;
  options.compile.schedule = schedule;
  options.compile.plans = 20;
  return options;
}

TEST(Step, ProductsOnADeviceGiveTheGoldenBits) {
  for (const compiler::Schedule schedule : {compiler::Schedule::kRearrange, compiler::Schedule::kInterleave,
                                            compiler::Schedule::kDwMajor, compiler::Schedule::kSequential}) {
    Steps s;
    const auto device = make_functional_device(npu_of("test8"));
    StepExecutor executor(s.step, *device, product_options(Backend::kFunctional, schedule));
    for (std::uint64_t number = 0; number < 3; ++number) {
      const StepResult result = executor.compared(s.batches(number), s.constants(number), s.golden, s.device);
      ASSERT_TRUE(result.ok()) << (result.difference ? result.difference->text() : result.failures.front());
      EXPECT_EQ(result.tensors, result.shares.device_ops + result.shares.host_ops + 2 * s.step.gradients.size());
      EXPECT_EQ(result.shares.host_multiply_adds, 0);
      EXPECT_GT(result.shares.device_multiply_adds, 0);
      EXPECT_EQ(double(result.products.multiply_adds), result.shares.device_multiply_adds);
    }
    EXPECT_EQ(s.golden, s.device);
  }
}

/// A step of a network on the functional model; what differs, or failed.
std::string problem_of(Steps &s, const char *npu) {
  const auto device = make_functional_device(npu_of(npu));
  StepExecutor executor(s.step, *device, product_options(Backend::kFunctional));
  const StepResult result = executor.compared(s.batches(0), s.constants(0), s.golden, s.device);
  EXPECT_EQ(result.shares.host_multiply_adds, 0);
  EXPECT_GT(result.shares.device_multiply_adds, 0);
  if (result.difference) return result.difference->text();
  return result.failures.empty() ? "" : result.failures.front();
}

TEST(Step, ConvolutionsGiveTheGoldenBits) {
  Steps s(compiler::load_graph("models/lenet.graph", 2));
  EXPECT_EQ(problem_of(s, "test8"), "");
}

TEST(Step, AttentionAndEmbeddingsGiveTheGoldenBits) {
  std::ifstream in("models/bert_tiny.graph");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Steps s(graph::read_graph(text, "models/bert_tiny.graph", graph::operators(),
                            {{"batch", 2}, {"sequence", 9}, {"width", 24}, {"heads", 3}, {"layers", 1}}));
  EXPECT_EQ(problem_of(s, "test6x10"), "");
}

TEST(Step, OptionsOfTheOptimizerGiveTheGoldenBits) {
  graph::TrainingOptions options;
  options.clip_norm = 0.1;
  Steps clipped(options);
  EXPECT_EQ(problem_of(clipped, "test8"), "");
  options.optimizer = graph::OptimizerKind::kSgd;
  options.momentum = 0.9;
  options.nesterov = true;
  Steps sgd(options);
  EXPECT_EQ(problem_of(sgd, "test8"), "");
}

TEST(Step, ANetworkThatTheHostCannotHoldIsRefused) {
  const Steps steps; // AdamW: weights and biases of three layers, two moments of each
  const std::uint64_t bytes = 3 * sizeof(float) * (20 * 13 + 13 + 13 * 9 + 9 + 9 * 5 + 5);
  EXPECT_NO_THROW(check_living(steps.step.graph, bytes));
  try {
    check_living(steps.step.graph, bytes - 1);
    FAIL();
  } catch (const std::invalid_argument &e) {
    EXPECT_NE(std::string(e.what()).find("are 1347 numbers"), std::string::npos) << e.what();
  }
}

TEST(Step, GoldenAloneIsTheSameStep) {
  Steps s, alone;
  const auto device = make_functional_device(npu_of("test8"));
  StepExecutor executor(s.step, *device, product_options(Backend::kFunctional));
  const StepExecutor golden(alone.step, 1);
  for (std::uint64_t number = 0; number < 2; ++number) {
    const StepResult a = executor.compared(s.batches(number), s.constants(number), s.golden, s.device);
    const StepResult b = golden.golden(alone.batches(number), alone.constants(number), alone.golden);
    EXPECT_EQ(a.losses, b.losses);
  }
  EXPECT_EQ(s.device, alone.golden);
}

TEST(Step, TheTimingModelCountsCyclesAndLeavesProductsUnchecked) {
  Steps s;
  const auto device = make_timing_device(npu_of("test8"));
  StepExecutor executor(s.step, *device, product_options(Backend::kTiming));
  const StepResult result = executor.compared(s.batches(0), s.constants(0), s.golden, s.device);
  ASSERT_TRUE(result.ok()) << (result.difference ? result.difference->text() : result.failures.front());
  EXPECT_GT(result.products.cycles, 0U);
  EXPECT_GT(result.unchecked, 0U);
}

TEST(Step, GradientsThatShareDyRunInOnePass) {
  const Steps s;
  const ProductPlan plan = plan_products(s.step.graph, npu_of("test8"));
  EXPECT_TRUE(plan.host.empty());
  std::size_t both = 0, weights_only = 0;
  for (const ProductPass &pass : plan.passes) {
    both += pass.ops.size() == 2 ? 1 : 0;
    weights_only += pass.pass == compiler::Pass::kBackward && !pass.layer.dx ? 1 : 0;
  }
  EXPECT_EQ(plan.passes.size(), 6U);
  EXPECT_EQ(both, 2U);
  EXPECT_EQ(weights_only, 1U) << "nobody wants the gradient of the images";
}

TEST(Step, AFlippedBitOfAResultIsSeen) {
  for (const std::uint64_t flip : {1U, 7U, 20U, 33U}) {
    Steps s;
    FaultyDevice device(make_functional_device(npu_of("test8")), flip, false);
    StepExecutor executor(s.step, device, product_options(Backend::kFunctional));
    const StepResult result = executor.compared(s.batches(0), s.constants(0), s.golden, s.device);
    ASSERT_TRUE(result.difference) << flip;
    EXPECT_EQ(result.difference->differing, 1U) << "the first op that differs is the one at fault";
    EXPECT_NE(s.step.graph.find(result.difference->tensor), graph::kNone);
  }
}

TEST(Step, AWrongLayoutIsSeen) {
  Steps s;
  FaultyDevice device(make_functional_device(npu_of("test8")), 0, true);
  StepExecutor executor(s.step, device, product_options(Backend::kFunctional));
  const StepResult result = executor.compared(s.batches(0), s.constants(0), s.golden, s.device);
  ASSERT_TRUE(result.difference);
  EXPECT_EQ(result.difference->op, "fc1");
  EXPECT_NE(result.difference->text().find("op 'fc1', tensor 'fc1'"), std::string::npos) << result.difference->text();
}

TEST(Step, MicroBatchesGoOnWithTheSum) {
  graph::TrainingOptions options;
  options.accumulate = 3;
  Steps s(options);
  const auto device = make_functional_device(npu_of("test8"));
  StepExecutor executor(s.step, *device, product_options(Backend::kFunctional));
  EXPECT_EQ(executor.plan().host.size(), 6U) << "dW of three layers in two micro-batches";
  const StepResult result = executor.compared(s.batches(0), s.constants(0), s.golden, s.device);
  ASSERT_TRUE(result.ok()) << (result.difference ? result.difference->text() : result.failures.front());
  EXPECT_EQ(result.losses.size(), 3U);
}

} // namespace
} // namespace gradweave::runtime::train
