// Plans of layers that run beside others in macro-banks of their own, and gradients that were put off so.
#include "compiler/back/compile_plan.hpp"
#include "compiler/search/plans/plans_beside.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

constexpr std::uint64_t kPlans = 20;

Layer gradients(std::uint32_t m, std::uint32_t k, std::uint32_t n) {
  Layer layer = make_layer(m, k, n);
  layer.dx = true;
  return layer;
}

/// Rows behind the last that the plans may use.
std::uint32_t end_of(const std::vector<PhasePlan> &plans) {
  std::uint32_t end = 0;
  for (const PhasePlan &p : plans)
    end = std::max({end, p.split.shared.end(), p.split.other.end(), p.split.result.end()});
  return end;
}

std::uint32_t first_of(const std::vector<PhasePlan> &plans) {
  std::uint32_t first = ~0U;
  for (const PhasePlan &p : plans)
    first = std::min({first, p.split.shared.first, p.split.other.first, p.split.result.first});
  return first;
}

TEST(PlansBeside, LieInTheBanksThatTheyAreAskedFor) {
  const Machine npu = load_config("test8");
  ASSERT_GT(npu.spm_banks, 1U);
  PlansBeside beside(npu, kPlans, Objective::kCycles, {});
  const Layer layer = gradients(24, 24, 24);
  const std::uint32_t banks = npu.spm_banks / 2, rows = banks * npu.bank_rows();
  EXPECT_EQ(beside.npu_of(banks).spm_rows(), rows);
  EXPECT_EQ(beside.npu_of(banks).bank_rows(), npu.bank_rows()) << "banks are those of the whole scratchpad";
  const PlansBeside::Plans &plans = beside.of(layer, Pass::kBackward, banks);
  ASSERT_FALSE(plans.empty());
  for (const std::vector<PhasePlan> &phases : plans) {
    EXPECT_LE(end_of(phases), rows);
    const std::vector<PhasePlan> moved = moved_by(phases, npu.spm_rows() - rows);
    EXPECT_GE(first_of(moved), npu.spm_rows() - rows);
    EXPECT_LE(end_of(moved), npu.spm_rows());
    const Compiled step = compile_plans({layer}, Pass::kBackward, moved, npu);
    expect_golden(step, npu, 1);
  }
}

TEST(PlansBeside, GradientsAreDwAlone) {
  const Machine npu = load_config("test8");
  PlansBeside beside(npu, kPlans, Objective::kCycles, {});
  const PlansBeside::Plans &plans = beside.gradients(gradients(24, 24, 24), npu.spm_banks);
  ASSERT_FALSE(plans.empty());
  for (const std::vector<PhasePlan> &phases : plans) {
    ASSERT_EQ(phases.size(), 1U);
    EXPECT_EQ(phases.front().kind, PhaseKind::kDw);
  }
}

TEST(PlansBeside, AreSearchedOnce) {
  const Machine npu = load_config("test8");
  std::uint64_t tried = 0;
  PlansBeside beside(npu, kPlans, Objective::kCycles, [&] { ++tried; });
  const Layer layer = gradients(16, 16, 16);
  beside.of(layer, Pass::kBackward, 1);
  const std::uint64_t once = tried, bursts = beside.work().bursts;
  EXPECT_GT(once, 0U);
  EXPECT_GT(bursts, 0U);
  beside.of(layer, Pass::kBackward, 1);
  EXPECT_EQ(tried, once);
  EXPECT_EQ(beside.work().bursts, bursts);
  beside.of(layer, Pass::kForward, 1);
  EXPECT_GT(tried, once);
}

TEST(PlansBeside, PreparedInThreadsAreThoseThatAreAskedFor) {
  const Machine npu = load_config("test8");
  const Layer layer = gradients(24, 16, 16), other = gradients(16, 24, 8);
  PlansBeside asked(npu, kPlans, Objective::kCycles, {}), prepared(npu, kPlans, Objective::kCycles, {});
  prepared.prepare(
      {{&layer, Pass::kBackward, 2, true}, {&other, Pass::kBackward, 1, false}, {&layer, Pass::kBackward, 2, true}}, 3);
  const SearchWork work = prepared.work();
  const auto tiles = [](const PlansBeside::Plans &plans) {
    std::vector<std::uint32_t> sides;
    for (const std::vector<PhasePlan> &phases : plans)
      for (const PhasePlan &p : phases)
        sides.insert(sides.end(), {p.tile.m, p.tile.k, p.tile.n, p.window});
    return sides;
  };
  EXPECT_EQ(tiles(prepared.gradients(layer, 2)), tiles(asked.gradients(layer, 2)));
  EXPECT_EQ(tiles(prepared.of(other, Pass::kBackward, 1)), tiles(asked.of(other, Pass::kBackward, 1)));
  EXPECT_EQ(prepared.work().bursts, work.bursts) << "nothing was left to be searched";
  EXPECT_EQ(work.bursts, asked.work().bursts);
}

/// An image's tiles have whole rows, with a halo: a bank is too little for one.
TEST(PlansBeside, ThereAreNoneWhereNothingFits) {
  Machine npu = load_config("test8");
  npu.spm_bytes = std::uint64_t{8} * 2 * npu.lanes() * npu.spm_banks; // eight rows a bank
  PlansBeside beside(npu, kPlans, Objective::kCycles, {});
  Convolution conv;
  conv.height = 2;
  conv.width = 100;
  conv.channels = conv.out_channels = 4;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  EXPECT_FALSE(beside.of(gradients(16, 16, 16), Pass::kBackward, npu.spm_banks).empty());
  EXPECT_TRUE(beside.of(image_layer(conv), Pass::kBackward, 1).empty());
}

} // namespace
} // namespace gradweave::compiler
