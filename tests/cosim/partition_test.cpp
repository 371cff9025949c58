// Partitioned layers and whole steps on the RTL, on one core and on several: golden bits under the layer's reduction
// plan, in the cycles that the timing model predicted.
#include "runtime/job/job.hpp"
#include "tests/cosim/case_number.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/paper/policy.hpp"
#include "compiler/schedule/step/step_search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

namespace gradweave::runtime {
namespace {

using compiler::Partition;
using compiler::Reduction;
using compiler::Schedule;

/// Partial tiles, dimensions of 1, primes; the last has groups.
struct Shape {
  std::uint32_t m, k, n, groups;
};
constexpr std::array<Shape, 4> kShapes{{{37, 23, 29, 1}, {61, 1, 18, 1}, {5, 53, 1, 1}, {40, 9, 2, 7}}};

using Case = std::tuple<const char *, Partition, Reduction, Schedule>;

/// A job of one layer in which shape, pass, data and stress follow from `number`.
JobSpec job_of(const char *npu, Partition partition, Schedule schedule, std::size_t number) {
  const Shape &shape = kShapes[number % kShapes.size()];
  JobSpec s;
  s.network = "cosim";
  s.npu = load_machine(fmt::format("configs/{}.toml", npu));
  compiler::Layer &layer = s.layers.emplace_back();
  layer.name = "layer";
  std::tie(layer.m, layer.k, layer.n, layer.groups) = std::tie(shape.m, shape.k, shape.n, shape.groups);
  s.compile.schedule = schedule;
  s.compile.partition = partition;
  s.compile.plans = 20;
  s.compile.pass = number % 3 == 0 ? compiler::Pass::kBoth : compiler::Pass::kBackward;
  s.data = number % 2 == 0 ? DataKind::kSpecial : DataKind::kNormal;
  if (number % 5 == 0) s.device.stress = {number + 1, 0.2};
  return s;
}

void expect_golden_in_time(const JobSpec &s) {
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("seed {}: {}", s.seed, fmt::join(r.failures, "; "));
  if (s.device.stress.stall_probability == 0) EXPECT_EQ(r.cycles(), r.predicted_cycles);
}

class EveryPartition : public ::testing::TestWithParam<Case> {};

TEST_P(EveryPartition, GivesTheGoldenBitsInThePredictedCycles) {
  const auto &[npu, partition, reduction, schedule] = GetParam();
  const std::size_t number =
      16 * static_cast<std::size_t>(partition) + 8 * static_cast<std::size_t>(reduction) + number_of(schedule);
  JobSpec s = job_of(npu, partition, schedule, number);
  s.compile.reduction = reduction;
  expect_golden_in_time(s);
}

INSTANTIATE_TEST_SUITE_P(Cosim, EveryPartition,
                         ::testing::Combine(::testing::Values("test8", "test8c2", "test6x10c3", "test8c4", "test8c8"),
                                            ::testing::Values(Partition::kWeightSharing, Partition::kDySharing,
                                                              Partition::kIfmapSharing),
                                            ::testing::Values(Reduction::kChain, Reduction::kAdd),
                                            ::testing::Values(Schedule::kSequential, Schedule::kInterleave,
                                                              Schedule::kDxMajor, Schedule::kDwMajor)),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           return fmt::format("{}_{}_{}_{}", std::get<0>(info.param),
                                              to_string(std::get<1>(info.param)), to_string(std::get<2>(info.param)),
                                              to_string(std::get<3>(info.param)));
                         });

using Turn = std::tuple<const char *, Partition, Schedule>;

class EveryTurn : public ::testing::TestWithParam<Turn> {};

TEST_P(EveryTurn, GivesTheGoldenBitsInThePredictedCycles) {
  const auto &[npu, partition, schedule] = GetParam();
  JobSpec s = job_of(npu, partition, schedule, 8 * static_cast<std::size_t>(partition) + number_of(schedule));
  s.compile.sharing = compiler::Sharing::kTurns;
  expect_golden_in_time(s);
}

INSTANTIATE_TEST_SUITE_P(Cosim, EveryTurn,
                         ::testing::Combine(::testing::Values("test8c2", "test6x10c3", "test8c4", "test8c8"),
                                            ::testing::Values(Partition::kWeightSharing, Partition::kDySharing,
                                                              Partition::kIfmapSharing),
                                            ::testing::Values(Schedule::kSequential, Schedule::kInterleave,
                                                              Schedule::kDxMajor, Schedule::kDwMajor)),
                         [](const ::testing::TestParamInfo<Turn> &info) {
                           return fmt::format("{}_{}_{}", std::get<0>(info.param), to_string(std::get<1>(info.param)),
                                              to_string(std::get<2>(info.param)));
                         });

/// Partial sums of parts that do not fit beside each other take the way through memory to their ADD.
TEST(SpilledSums, AreAddedOnTheRtl) {
  JobSpec s;
  s.network = "cosim";
  s.npu = load_machine("configs/test8c2.toml");
  compiler::Layer &layer = s.layers.emplace_back();
  layer.name = "spills";
  std::tie(layer.m, layer.k, layer.n) = std::make_tuple(96U, 144U, 144U);
  s.compile.schedule = Schedule::kDxMajor;
  s.compile.partition = Partition::kWeightSharing;
  s.compile.parts = 2;
  s.compile.reduction = Reduction::kAdd;
  s.paper = compiler::paper::parse_policy("lru"); // small tiles, chosen without regard to spills
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}", fmt::join(r.failures, "; "));
  const compiler::Traffic &dw = r.traffic.front()[static_cast<std::size_t>(compiler::Tensor::kDW)];
  EXPECT_GT(dw.spill_write_bytes, 0U);
  EXPECT_GT(dw.spill_read_bytes, 0U);
}

/// Layers that read one another, or the same X, in one stream.
class Steps : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Steps, GiveTheGoldenBitsInThePredictedCycles) {
  constexpr std::array<const char *, 4> npus{"test8", "test6x10", "test8c2", "test6x10c3"};
  std::mt19937_64 rng(GetParam());
  const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % 50); };
  std::vector<compiler::Layer> layers(3);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].name = fmt::format("l{}", i);
    layers[i].index = static_cast<std::uint32_t>(i);
    layers[i].m = 45;
    layers[i].k = i == 0 ? side() : layers[i - 1].n;
    layers[i].n = side();
    layers[i].dx = i > 0;
    if (i > 0) layers[i].input = layers[i - 1].name;
  }
  layers[2].input.clear();
  layers[2].x_of = "l1";
  layers[2].k = layers[1].k;
  compiler::StepOptions options;
  options.layer_plans = 20;
  options.step_plans = 100;
  JobSpec spec;
  spec.network = "cosim";
  spec.layers = layers;
  spec.npu = load_machine(fmt::format("configs/{}.toml", npus.at(GetParam() % npus.size())));
  spec.data = GetParam() % 3 == 0 ? DataKind::kSpecial : DataKind::kNormal;
  const compiler::SearchedStep found = compiler::search_step(layers, spec.npu, options);
  const JobResult r = run_job(spec, compiler::compile_plans(layers, options.pass, found.plans, spec.npu), {});
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("seed {}: {}", GetParam(), fmt::join(r.failures, "; "));
  EXPECT_EQ(r.cycles(), found.cost);
  EXPECT_GT(r.elements(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Cosim, Steps, ::testing::Range<std::uint64_t>(1, 13));

/// A golden value that is wrong in one bit must be seen.
TEST(Steps, AWrongStepFails) {
  std::vector<compiler::Layer> layers(1);
  layers[0].name = "only";
  std::tie(layers[0].m, layers[0].k, layers[0].n, layers[0].dx) = std::make_tuple(20U, 12U, 9U, false);
  JobSpec spec;
  spec.network = "cosim";
  spec.layers = layers;
  spec.npu = load_machine("configs/test8.toml");
  compiler::StepOptions options;
  options.layer_plans = options.step_plans = 5;
  compiler::Compiled step =
      compiler::compile_plans(layers, options.pass, compiler::search_step(layers, spec.npu, options).plans, spec.npu);
  for (compiler::TensorBinding &b : step.layout.tensors)
    if (b.tensor == compiler::Tensor::kY) b.offset += b.pitch; // looks at the wrong row
  step.predicted_cycles += 1;
  const JobResult r = run_job(spec, step, {});
  EXPECT_EQ(r.outcome, Outcome::kMismatch);
  EXPECT_GT(r.mismatches(), 0U);
  EXPECT_EQ(r.failures.size(), 2U) << "the row and the cycles";
}

} // namespace
} // namespace gradweave::runtime
