// No run is below its bounds, neither those of the layer nor those that prune the search.
#include "compiler/bounds.hpp"
#include "compiler/cost.hpp"
#include "compiler/residency.hpp"
#include "compiler/search.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

Bounds bounds(const Layer &layer, Pass pass, const NpuConfig &npu) {
  return lower_bounds(layer, pass, make_layout(layer, pass, npu), npu);
}

TEST(Bounds, AreTheStatedOnes) {
  NpuConfig npu = load_config("test8"); // 64 PEs
  npu.dram.bytes_num = 7;
  npu.dram.bytes_den = 2;
  const Layer layer = make_layer(10, 20, 30);
  const Bounds backward = bounds(layer, Pass::kBackward, npu);
  EXPECT_EQ(backward.compute_cycles, 188U) << "2 x 6000 multiply-adds";
  // X, W, dY and dX are bf16, dW is fp32: 2 (200 + 600 + 300 + 200) + 4 x 600 bytes, 3.5 a cycle
  EXPECT_EQ(backward.traffic_cycles, 1429U);
  EXPECT_EQ(backward.cycles(), 1429U);
  EXPECT_EQ(bounds(layer, Pass::kForward, npu).compute_cycles, 94U);
  EXPECT_EQ(bounds(layer, Pass::kForward, npu).traffic_cycles, 629U) << "X, W, Y";
  EXPECT_EQ(bounds(layer, Pass::kBoth, npu).compute_cycles, 282U);
  EXPECT_EQ(bounds(make_layer(10, 20, 30, false), Pass::kBackward, npu).traffic_cycles, 972U) << "X, dY, dW";
}

class BoundsOn : public testing::TestWithParam<std::string> {};

TEST_P(BoundsOn, NoStreamBeatsItsBounds) {
  const NpuConfig npu = load_config(GetParam());
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 rng(seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 3 == 0 ? 300 : 60)); };
    const Layer layer = make_layer(side(), side(), side(), rng() % 4 != 0);
    const auto pass = static_cast<Pass>(rng() % 3);
    for (const Schedule schedule : all_schedules()) {
      const CompiledLayer c = compile_layer(layer, npu, {schedule, pass});
      EXPECT_GE(c.predicted_cycles, c.bounds.cycles())
          << fmt::format("{} {} {} {} seed {}", npu.name, layer.name, to_string(schedule), to_string(pass), seed);
      EXPECT_GE(c.predicted_cycles, c.compute_cycles) << layer.name;
    }
  }
}

TEST_P(BoundsOn, NoProgramBeatsTheBoundThatPrunes) {
  const NpuConfig npu = load_config(GetParam());
  for (const Layer &layer : {make_layer(50, 61, 29), make_layer(7, 120, 90), make_layer(128, 16, 16)})
    for (const Schedule schedule : {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor}) {
      const Layout layout = make_layout(layer, Pass::kBoth, npu);
      for (const auto &plans : search(layer, schedule, Pass::kBoth, {}, layout, npu)) {
        const Program program = allocate(plans, layer, layout, npu).value();
        EXPECT_LE(program_bound(program, npu), program_cycles(program, npu)) << layer.name << " " << describe(plans);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Configs, BoundsOn,
                         testing::Values("test2x2", "test4x8", "test8", "test6x10", "test13x7", "test16", "small"),
                         [](const auto &param_info) { return param_info.param; });

/// The bounds are tight enough to be broken: half the bandwidth, or half the PEs, and a run that is possible is below.
TEST(Bounds, OfASlowerNpuAreBeaten) {
  const NpuConfig npu = load_config("small");
  const CompiledLayer memory = compile_layer(make_layer(4, 312, 312), npu, {});
  NpuConfig slow = npu;
  slow.dram.bytes_den *= 2;
  EXPECT_GT(bounds(memory.layer, Pass::kBackward, slow).cycles(), memory.predicted_cycles);

  const CompiledLayer compute = compile_layer(make_layer(450, 450, 450), npu, {});
  NpuConfig few = npu;
  few.rows /= 2;
  EXPECT_GT(bounds(compute.layer, Pass::kBackward, few).cycles(), compute.predicted_cycles);
}

} // namespace
} // namespace gradweave::compiler
