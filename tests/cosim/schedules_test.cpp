// Layers end to end on the RTL: every schedule, every test NPU, awkward shapes, special data, with and without
// back-pressure on the bus.
#include "runtime/job/job.hpp"
#include "tests/cosim/case_number.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace gradweave::runtime {
namespace {

using compiler::Layer;
using compiler::Schedule;

/// Changes of a plan that are tried: any plan has to give the bits, and the search takes longer than the NPU.
constexpr std::uint64_t kPlans = 30;

const std::vector<Layer> kLayers{
    {"partial_tiles", 50, 61, 29, true, 1}, {"one_row", 1, 23, 41, true, 2},       {"one_column", 37, 1, 19, true, 3},
    {"one_output", 43, 17, 1, true, 4},     {"first_layer", 31, 24, 40, false, 0}, {"spills", 96, 128, 80, true, 5},
};

/// The paper's orders, and those that search nothing.
std::vector<Schedule> schedules() {
  std::vector<Schedule> all = compiler::all_schedules();
  all.insert(all.end(), {Schedule("in_order"), Schedule("igo_paper"), Schedule("flexer"), Schedule("list")});
  return all;
}

using Case = std::tuple<const char *, Schedule, std::size_t>;

class EverySchedule : public ::testing::TestWithParam<Case> {};

TEST_P(EverySchedule, GivesTheGoldenBits) {
  const auto &[npu, schedule, layer] = GetParam();
  JobSpec s;
  s.network = "cosim";
  s.layers = {kLayers[layer]};
  s.npu = load_machine(fmt::format("configs/{}.toml", npu));
  s.compile.schedule = schedule;
  s.compile.pass = compiler::Pass::kBoth;
  s.compile.plans = kPlans;
  // Neighbouring cases differ in data and in the bus, so that together they cover all four combinations.
  s.data = (layer + number_of(schedule)) % 2 == 0 ? DataKind::kSpecial : DataKind::kNormal;
  s.device.stress.seed = layer + 1;
  s.device.stress.stall_probability = layer % 3 == 0 ? 0.3 : 0;
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("seed {}: {}", s.seed, fmt::join(r.failures, "; "));
  EXPECT_EQ(r.outputs.size(), s.layer().dx ? 3U : 2U);
  for (const OutputCheck &check : r.outputs)
    EXPECT_GT(check.finite, 0U) << "the check has no power";
}

std::string name_of(const ::testing::TestParamInfo<Case> &info) {
  return fmt::format("{}_{}_{}", std::get<0>(info.param), compiler::to_string(std::get<1>(info.param)),
                     kLayers[std::get<2>(info.param)].name);
}

INSTANTIATE_TEST_SUITE_P(Cosim, EverySchedule,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test13x7", "test16"),
                                            ::testing::ValuesIn(schedules()),
                                            ::testing::Range<std::size_t>(0, kLayers.size())),
                         name_of);

/// Three regions of the scratchpad ask for three macro-banks; test16 has one.
INSTANTIATE_TEST_SUITE_P(CosimOfRegions, EverySchedule,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test13x7"),
                                            ::testing::Values(Schedule("loop_order")),
                                            ::testing::Range<std::size_t>(0, kLayers.size())),
                         name_of);

/// Y and dX as the sums they are, of groups too, with sums that spill.
TEST(Fp32Sums, LeaveTheRtlAsTheyAre) {
  for (const char *npu : {"test8", "test6x10", "test13x7"})
    for (const Schedule schedule : compiler::all_schedules())
      for (Layer layer : {kLayers[0], kLayers[1], kLayers[5]}) {
        layer.y_fp32 = true;
        layer.dx_fp32 = schedule != Schedule::kInterleave;
        if (layer.m == 50) layer.groups = 3;
        JobSpec s;
        s.network = "cosim";
        s.layers = {layer};
        s.npu = load_machine(fmt::format("configs/{}.toml", npu));
        s.compile.schedule = schedule;
        s.compile.pass = compiler::Pass::kBoth;
        s.compile.plans = kPlans;
        s.data = DataKind::kSpecial;
        const JobResult r = run_job(s);
        EXPECT_EQ(r.outcome, Outcome::kPass)
            << fmt::format("{} {} {}: {}", npu, layer.name, compiler::to_string(schedule), fmt::join(r.failures, "; "));
      }
}

/// A layer of bert_tiny on the full small NPU, bus stalls and special data included.
TEST(FullSize, AttentionOutputOnSmall) {
  JobSpec s;
  s.network = "bert_tiny";
  s.layers = {{"encoder1.attention_output", 512, 312, 312, true, 9}};
  s.npu = load_machine("configs/small.toml");
  s.data = DataKind::kSpecial;
  s.device.stress = {7, 0.1};
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}", fmt::join(r.failures, "; "));
}

/// The large NPU: 128 x 128, a bus of 256 bytes, a bandwidth that is no whole number of bytes a cycle.
TEST(FullSize, GemmOnLarge) {
  JobSpec s;
  s.network = "cosim";
  s.layers = {{"gemm", 300, 257, 391, true, 1}};
  s.npu = load_machine("configs/large.toml");
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}", fmt::join(r.failures, "; "));
}

/// As many lanes as there may be: panels, blocks and lines whose numbers need every bit.
TEST(FullSize, GemmOnAsManyLanesAsThereMayBe) {
  for (const char *schedule : {"sequential", "rearrange"}) {
    JobSpec s;
    s.network = "cosim";
    s.layers = {{"gemm", 600, 70, 530, true, 1}};
    s.npu = load_machine("configs/test512x16.toml");
    s.compile.schedule = Schedule(schedule);
    s.compile.pass = compiler::Pass::kBoth;
    s.compile.plans = kPlans;
    s.data = DataKind::kSpecial;
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}: {}", schedule, fmt::join(r.failures, "; "));
  }
}

} // namespace
} // namespace gradweave::runtime
