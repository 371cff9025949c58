// The schedules of igo_micro23 as the paper describes them, on the RTL: golden bits, predicted cycles.
#include "compiler/paper/policy.hpp"
#include "runtime/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>

namespace gradweave::runtime {
namespace {

using Case = std::tuple<const char *, const char *>;

class EveryPolicy : public ::testing::TestWithParam<Case> {};

/// Every schedule on shapes of its own; neighbours differ in partition, reduction, data and bus.
TEST_P(EveryPolicy, GivesTheGoldenBitsInThePredictedCycles) {
  const auto &[npu, policy] = GetParam();
  std::mt19937_64 rng(std::hash<std::string>{}(std::string(npu) + policy));
  for (const compiler::Schedule schedule : compiler::all_schedules()) {
    JobSpec s;
    s.npu = load_npu_config(fmt::format("configs/{}.toml", npu));
    s.network = "cosim";
    s.layer.name = compiler::to_string(schedule);
    s.layer.m = static_cast<std::uint32_t>(1 + rng() % 90);
    s.layer.k = static_cast<std::uint32_t>(1 + rng() % 90);
    s.layer.n = static_cast<std::uint32_t>(1 + rng() % 90);
    s.paper = compiler::paper::parse_policy(policy);
    s.compile.schedule = schedule;
    s.compile.pass = compiler::Pass::kBoth;
    s.compile.partition = compiler::all_partitions()[rng() % 4];
    s.compile.parts = std::min({2U * s.npu.cores, s.layer.m, s.layer.k, s.layer.n});
    s.compile.reduction = rng() % 2 == 0 ? compiler::Reduction::kChain : compiler::Reduction::kAdd;
    s.data = rng() % 2 == 0 ? DataKind::kSpecial : DataKind::kNormal;
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format(
        "{} {} {} x {} x {} {} in {} {}: {}", npu, policy, s.layer.m, s.layer.k, s.layer.n,
        to_string(s.compile.partition), s.compile.parts, to_string(s.compile.reduction), fmt::join(r.failures, "; "));
    EXPECT_EQ(r.outputs.size(), 3U);
  }
}

INSTANTIATE_TEST_SUITE_P(Cosim, EveryPolicy,
                         ::testing::Combine(::testing::Values("test8", "test6x10", "test8c2"),
                                            ::testing::Values("lru", "none/columns", "halves/result",
                                                              "fifo/as_operands", "belady/whole", "array2/partial_half",
                                                              "largest")),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

} // namespace
} // namespace gradweave::runtime
