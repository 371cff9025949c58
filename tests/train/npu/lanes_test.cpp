// Steps side by side are those of one device, one after another, and what goes wrong is told as there.
#include "tests/train/npu/npu_steps.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kSteps = 7;

using DeviceMaker = std::function<std::unique_ptr<Device>(std::size_t lane)>;

/// A perceptron that learns in so many lanes.
class LaneSteps {
public:
  LaneSteps(std::size_t lanes, const DeviceMaker &make)
      : first_(perceptron(6, {20, 13, 9, 5}), {}, make(0), Backend::kFunctional),
        lanes_(first_.step, first_.executor, lanes, 1, [&, lane = 0]() mutable { return make(++lane); }) {}

  StepResult next(const std::function<void()> &tick = {}) { return first_.trainer.compared_step(lanes_, kSteps, tick); }
  Trainer &trainer() { return first_.trainer; }
  Lanes &lanes() { return lanes_; }
  NpuSteps &first() { return first_; }

private:
  NpuSteps first_;
  Lanes lanes_;
};

std::unique_ptr<Device> functional(std::size_t /*lane*/) { return make_functional_device(npu_of("test8v2")); }

std::string problem_of(const StepResult &result) {
  if (result.difference) return result.difference->text();
  return result.failures.empty() ? "" : result.failures.front();
}

TEST(Lanes, GiveTheStepsOfOneDevice) {
  NpuSteps serial(perceptron(6, {20, 13, 9, 5}), {}, functional(0), Backend::kFunctional);
  std::vector<StepResult> wanted;
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    ASSERT_EQ(serial.next(), "");
    wanted.push_back(serial.last);
  }
  for (const std::size_t count : {1U, 2U, 3U, 10U}) {
    SCOPED_TRACE(count);
    LaneSteps steps(count, functional);
    for (std::uint64_t i = 0; i < kSteps; ++i) {
      const StepResult result = steps.next();
      ASSERT_EQ(problem_of(result), "") << "step " << i;
      EXPECT_EQ(steps.trainer().steps_done(), i + 1);
      EXPECT_EQ(result.losses, wanted[i].losses);
      EXPECT_EQ(result.elements, wanted[i].elements);
      EXPECT_EQ(result.products.commands, wanted[i].products.commands);
    }
    EXPECT_EQ(steps.trainer().living(), serial.trainer.living());
  }
}

/// What lives is the golden execution's, in each step: a network of embeddings, whose streams depend on the batch.
TEST(Lanes, MakeStreamsOfTheirOwn) {
  graph::TrainingOptions sparse;
  sparse.sparse_embeddings = true;
  NpuSteps first(small_bert(), sparse, functional(0), Backend::kFunctional);
  Lanes lanes(first.step, first.executor, 2, 1, [] { return functional(1); });
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(problem_of(first.trainer.compared_step(lanes, 4, {})), "") << "step " << i;
}

/// In the stream of step `bad`, as it comes to the device of lane `lane` of `lanes`, a STORE goes astray.
ChangingDevice::Change astray(std::size_t lane, std::size_t lanes, std::size_t bad) {
  return [=, step = lane](std::vector<isa::Command> &stream, Device &) mutable {
    if (step == bad)
      for (isa::Command &command : stream)
        if (command.get(isa::field::OPCODE) == static_cast<std::uint32_t>(isa::Opcode::STORE)) {
          command.set(isa::field::DRAM_ADDR_LO, command.get(isa::field::DRAM_ADDR_LO) + 4);
          break;
        }
    step += lanes;
  };
}

/// The steps before the first problem, and the problem.
std::pair<int, std::string> first_problem(std::size_t lanes, std::size_t bad) {
  LaneSteps steps(lanes, [&](std::size_t lane) {
    return std::make_unique<ChangingDevice>(npu_of("test8v2"), astray(lane, lanes, bad));
  });
  for (int i = 0; i < static_cast<int>(kSteps); ++i)
    if (const std::string problem = problem_of(steps.next()); !problem.empty()) return {i, problem};
  return {-1, ""};
}

TEST(Lanes, TellTheFirstDifferenceAsOneDeviceDoes) {
  for (const std::size_t bad : {0U, 1U, 4U}) {
    NpuSteps serial(perceptron(6, {20, 13, 9, 5}), {},
                    std::make_unique<ChangingDevice>(npu_of("test8v2"), astray(0, 1, bad)), Backend::kFunctional);
    std::string wanted;
    for (std::size_t i = 0; i <= bad; ++i) {
      EXPECT_EQ(wanted, "");
      wanted = serial.next();
    }
    EXPECT_NE(wanted.find("elements differ"), std::string::npos) << wanted;
    for (const std::size_t lanes : {1U, 2U, 3U})
      EXPECT_EQ(first_problem(lanes, bad), std::make_pair(static_cast<int>(bad), wanted)) << lanes;
  }
}

/// A step that ends well by itself, but not with what the next one began with.
TEST(Lanes, AnotherBeginOfTheNextStepIsSeen) {
  LaneSteps steps(1, functional);
  const Trainer &trainer = steps.trainer();
  const auto begin = std::make_shared<const Living>(trainer.living());
  GoldenStep step{{steps.first().feed->batch(0)}, step_constants({}, {RateForm::kConstant, 0.01, 0, 10}, 0), begin, {}};
  steps.lanes().execute(step);
  Living end = *step.end;
  steps.lanes().begin(step);
  EXPECT_EQ(problem_of(steps.lanes().end({})), "");
  for (std::vector<float> &values : end)
    if (!values.empty()) {
      values.back() = -values.back();
      break;
    }
  step.end = std::make_shared<const Living>(end);
  steps.lanes().begin(step);
  EXPECT_NE(problem_of(steps.lanes().end({})).find("is not what the next step began with"), std::string::npos);
}

/// It ends when its host does not want it any more.
class EndlessDevice final : public Device {
public:
  explicit EndlessDevice(const Machine &npu) : Device(npu, {}) {}
  const std::vector<timing::CommandTimes> &command_times() const override { return times_; }
  std::uint64_t now() const override { return 0; }

private:
  void do_copy_in(std::uint64_t, const void *, std::size_t) override {}
  void do_copy_out(std::uint64_t, void *, std::size_t) override {}
  void do_submit(std::uint64_t, const std::vector<isa::Command> &) override {}
  void do_open(std::uint64_t, std::uint32_t) override {}
  std::uint64_t do_append(const std::vector<isa::Command> &, std::uint32_t) override { return 0; }
  std::uint64_t do_close() override { return 0; }
  bool do_advance(std::uint64_t) override { return false; }
  std::optional<timing::Mark> do_take_mark() override { return {}; }
  RunStatus do_wait(const ProgressFunction &progress) override {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      progress(0, 1);
    }
  }
  Counters do_read_counters() override { return Counters(1, 1); }
  void do_reset() override {}

  std::vector<timing::CommandTimes> times_;
};

TEST(Lanes, AreLeftWhileStepsAreUnderWay) {
  // The first step ends, the second never does.
  LaneSteps steps(2, [](std::size_t lane) -> std::unique_ptr<Device> {
    if (lane == 0) return functional(0);
    return std::make_unique<EndlessDevice>(npu_of("test8v2"));
  });
  ASSERT_EQ(problem_of(steps.next()), "");
  const Living living = steps.trainer().living();
  struct Stop {};
  EXPECT_THROW(steps.next([] { throw Stop(); }), Stop);
  EXPECT_EQ(steps.trainer().steps_done(), 1U);
  EXPECT_EQ(steps.trainer().living(), living);
}

TEST(Lanes, PayAsCoresStepsAndMemoryAllow) {
  const NpuSteps steps(perceptron(6, {20, 13, 9, 5}), {}, functional(0), Backend::kFunctional);
  std::uint64_t bytes = 0;
  for (const graph::Tensor &tensor : steps.step.graph.tensors)
    bytes += tensor.shape.elements() * sizeof(float);
  const auto pay = [&](std::uint64_t count, unsigned cores, std::uint64_t tensors) {
    return lanes_that_pay(steps.step.graph, count, cores, tensors * bytes);
  };
  EXPECT_EQ(pay(100, 4, 1000), 4U);
  EXPECT_EQ(pay(3, 4, 1000), 3U);
  EXPECT_EQ(pay(100, 4, 13), 2U); // half of it has each tensor twice three times
  EXPECT_EQ(pay(100, 4, 1), 1U);
  EXPECT_EQ(pay(0, 4, 1000), 1U);
}

TEST(Lanes, TakeNoMoreStepsThanTheyAre) {
  LaneSteps steps(1, [](std::size_t) { return std::make_unique<EndlessDevice>(npu_of("test8v2")); });
  const auto begin = std::make_shared<const Living>(steps.trainer().living());
  const GoldenStep step{{steps.first().feed->batch(0)}, {}, begin, begin};
  steps.lanes().begin(step);
  EXPECT_THROW(steps.lanes().begin(step), std::logic_error);
}

} // namespace
} // namespace gradweave::runtime::train
