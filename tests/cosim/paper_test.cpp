// The schedules of igo_micro23 as the paper describes them, on the RTL: golden bits, predicted cycles.
#include "compiler/paper/policy.hpp"
#include "runtime/job/job.hpp"
#include "tests/cosim/case_number.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <tuple>

namespace gradweave::runtime {
namespace {

using compiler::Schedule;

/// Each replacement, and every other choice at least once.
constexpr std::array<const char *, 7> kPolicies{
    "lru", "none/columns", "halves/result", "fifo/as_operands", "belady/whole", "array2/partial_half", "largest"};

using Case = std::tuple<const char *, Schedule, std::size_t>;

class PaperSchedules : public ::testing::TestWithParam<Case> {};

TEST_P(PaperSchedules, GiveTheGoldenBitsInThePredictedCycles) {
  const auto &[npu, schedule, policy] = GetParam();
  const std::size_t number = kPolicies.size() * number_of(schedule) + policy; // neighbours differ
  std::mt19937_64 rng(number);
  JobSpec s;
  s.npu = load_machine(fmt::format("configs/{}.toml", npu));
  s.network = "cosim";
  compiler::Layer &layer = s.layers.emplace_back();
  layer.name = "random";
  layer.m = static_cast<std::uint32_t>(1 + rng() % 90);
  layer.k = static_cast<std::uint32_t>(1 + rng() % 90);
  layer.n = static_cast<std::uint32_t>(1 + rng() % 90);
  layer.groups = number % 3 == 0 ? 2 : 1;
  s.paper = compiler::paper::parse_policy(kPolicies[policy]);
  s.compile.schedule = schedule;
  s.compile.pass = compiler::Pass::kBoth;
  s.compile.partition = compiler::all_partitions()[number % 4];
  s.compile.parts = 2 * s.npu.cores;
  s.compile.reduction = rng() % 2 == 0 ? compiler::Reduction::kChain : compiler::Reduction::kAdd;
  s.data = rng() % 2 == 0 ? DataKind::kSpecial : DataKind::kNormal;
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{} x {} x {} x {} in {} {}: {}", layer.groups, layer.m, layer.k,
                                                      layer.n, s.compile.parts, to_string(s.compile.reduction),
                                                      fmt::join(r.failures, "; "));
  EXPECT_EQ(r.outputs.size(), 3U);
  EXPECT_EQ(r.cycles(), r.predicted_cycles);
}

INSTANTIATE_TEST_SUITE_P(Cosim, PaperSchedules,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test8c2"),
                                            ::testing::Values(Schedule::kSequential, Schedule::kInterleave,
                                                              Schedule::kDxMajor, Schedule::kDwMajor),
                                            ::testing::Range<std::size_t>(0, kPolicies.size())),
                         [](const ::testing::TestParamInfo<Case> &param_info) {
                           std::string name = fmt::format("{}_{}_{}", std::get<0>(param_info.param),
                                                          to_string(std::get<1>(param_info.param)),
                                                          kPolicies[std::get<2>(param_info.param)]);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

} // namespace
} // namespace gradweave::runtime
