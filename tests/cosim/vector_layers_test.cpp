// Depthwise layers that are the vector unit's, on the RTL: all bits, and the cycles that the timing model predicted;
// with a bus that stalls, all bits.
#include "compiler/back/compile_plan.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "tests/runtime/random_image_job.hpp"
#include "tests/runtime/random_job_set.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

TEST(VectorLayersOnRtl, GiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8v2", "test6x10v1", "test8c2v8"};
  for (std::uint64_t seed = 7501; seed <= 7530; ++seed) {
    JobSpec s = random_vector_job(npus[seed % 3], seed);
    s.device.stress = {seed, seed % 4 == 0 ? 0.3 : 0};
    const JobResult r = run_job(s);
    EXPECT_EQ(r.outcome, Outcome::kPass) << describe(s) << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
  }
}

/// Among products that compute their images and read their results, in one stream.
TEST(VectorLayersOnRtl, OfAStepGiveTheBitsOfDirectConvolution) {
  const char *npus[] = {"test8v2", "test6x10v1"};
  for (std::uint64_t seed = 7601; seed <= 7620; ++seed) {
    Dice dice(seed);
    JobSpec s;
    s.npu = load_machine(fmt::format("configs/{}.toml", npus[seed % 2]));
    compiler::WeaveJob job = random_depthwise_job(dice, 0, s.npu);
    for (compiler::Layer &layer : job.layers)
      layer.fused = false;
    s.network = "cosim";
    s.layers = job.layers;
    s.compile.pass = job.pass;
    s.data = seed % 3 == 0 ? DataKind::kSpecial : DataKind::kNormal;
    compiler::StepOptions options;
    options.pass = job.pass;
    options.layer_plans = 12;
    options.step_plans = 24;
    if (seed % 4 == 0) options.start = compiler::StepStart::kPlacement;
    const compiler::SearchedStep found = compiler::search_step(s.layers, s.npu, options);
    const JobResult r = run_job(s, compiler::compile_plans(s.layers, job.pass, found.plans, s.npu), {});
    EXPECT_EQ(r.outcome, Outcome::kPass) << "seed " << seed << ": " << fmt::format("{}", fmt::join(r.failures, "; "));
    EXPECT_EQ(r.cycles(), found.cost) << "seed " << seed;
    std::vector<compiler::PhasePlan> woven = found.plans;
    bool turned = false;
    for (compiler::PhasePlan &plan : woven) {
      const bool at_turn = !turned && plan.kind != compiler::PhaseKind::kForward; // which is never woven
      turned = turned || at_turn;
      plan.woven = dice.chance(0.7) && !at_turn;
      plan.joined = false;
    }
    compiler::Compiled compiled = compiler::compile_plans(s.layers, job.pass, woven, s.npu);
    const std::uint64_t cycles = compiled.predicted_cycles;
    const JobResult mixed = run_job(s, std::move(compiled), {});
    EXPECT_EQ(mixed.outcome, Outcome::kPass)
        << "woven, seed " << seed << ": " << fmt::format("{}", fmt::join(mixed.failures, "; "));
    EXPECT_EQ(mixed.cycles(), cycles) << "woven, seed " << seed;
  }
}

} // namespace
} // namespace gradweave::runtime
