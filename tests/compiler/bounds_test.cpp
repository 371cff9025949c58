// No run is below its bounds, neither those of the layer nor those that prune the search.
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/cost/latest_starts.hpp"
#include "compiler/lower/describe.hpp"
#include "compiler/search/search.hpp"
#include "compiler/spm/residency.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

#include <set>
#include <tuple>
#include <utility>

namespace gradweave::compiler {
namespace {

Bounds bounds(const Layer &layer, Pass pass, const Machine &npu) {
  return lower_bounds({layer}, pass, make_layout({layer}, pass, npu), npu);
}

TEST(Bounds, AreTheStatedOnes) {
  Machine npu = load_config("test8"); // 64 PEs
  npu.memory.bytes_num = 7;
  npu.memory.bytes_den = 2;
  const Layer layer = make_layer(10, 20, 30);
  const Bounds backward = bounds(layer, Pass::kBackward, npu);
  // dX has 2 x 3 blocks of 30 terms, dW 3 x 4 of 10, which take 20 cycles as the shortest blocks do.
  EXPECT_EQ(backward.compute_cycles, 6U * 30 + 12 * 20);
  // Rows of X, W, dY and dX (bf16) and dW (fp32) in beats of 16 bytes: 10 x 48 + 20 x 64 + 10 x 64 + 10 x 48 + 20 x 128
  // bytes, 3.5 a cycle
  EXPECT_EQ(backward.traffic_cycles, 1555U);
  EXPECT_GT(backward.run_cycles, 1555U) << "and what cannot overlap";
  EXPECT_EQ(bounds(layer, Pass::kForward, npu).compute_cycles, 8U * 20);
  EXPECT_EQ(bounds(layer, Pass::kForward, npu).traffic_cycles, 686U) << "X, W, Y";
  EXPECT_EQ(bounds(layer, Pass::kBoth, npu).compute_cycles, 580U);
  EXPECT_EQ(bounds(make_layer(10, 20, 30, false), Pass::kBackward, npu).traffic_cycles, 1052U) << "X, dY, dW";
  EXPECT_EQ(backward.io_cycles, 0U) << "all fits the scratchpad";
}

TEST(Bounds, APortCarriesABeatACycle) {
  Machine npu = load_config("test8"); // beats of 16 bytes
  npu.memory.bytes_num = 1000;
  npu.memory.bytes_den = 1;
  // Rows of X, W, dY, dX and dW take 3, 4, 4, 3 and 8 beats.
  EXPECT_EQ(bounds(make_layer(10, 20, 30), Pass::kBackward, npu).traffic_cycles, 10U * 3 + 20 * 8) << "stores";
  EXPECT_EQ(bounds(make_layer(50, 20, 30), Pass::kBackward, npu).traffic_cycles, 50U * 3 + 20 * 4 + 50 * 4) << "loads";
}

TEST(Bounds, OfOneMultiplyAddIsItsRun) {
  for (const char *name : {"small", "large", "test8", "test6x10", "test5x2", "test4x8"}) {
    const Machine npu = load_config(name);
    const Compiled c = compile_known(make_layer(1, 1, 1), npu, {Schedule::kSequential, Pass::kForward});
    EXPECT_GE(c.predicted_cycles, c.bounds.run_cycles) << name;
    EXPECT_LE(c.predicted_cycles, c.bounds.run_cycles + 3) << name << ": fractions of cycles, rounded up thrice";
  }
}

/// Of five rows the taps of the only row of results read two.
TEST(Bounds, LeaveOutPixelsThatNoTapReads) {
  Convolution conv;
  conv.batch = 3;
  conv.height = 5;
  conv.width = 9;
  conv.channels = 3;
  conv.out_channels = 1;
  conv.kernel_height = 2;
  conv.kernel_width = 3;
  conv.stride_height = conv.stride_width = 2;
  conv.dilation_height = 3;
  conv.pad_left = 1;
  conv.pad_right = 2;
  const Machine npu = load_config("test8");
  for (const Schedule schedule : {Schedule::kDxMajor, Schedule::kSearch}) {
    const Compiled c = compile_known(image_layer(conv), npu, {schedule, Pass::kForward});
    EXPECT_GE(c.predicted_cycles, c.bounds.run_cycles);
    EXPECT_LT(c.predicted_cycles, 654U) << "which it would take to load all of them";
  }
}

/// A row of a packed image has more than a pixel: those that no tap reads are left out of its columns, too.
TEST(Bounds, LeaveOutPixelsOfPackedImages) {
  Convolution conv;
  conv.batch = 2;
  conv.height = conv.width = 8;
  conv.channels = conv.out_channels = 1;
  conv.kernel_height = 5;
  conv.kernel_width = 2;
  conv.stride_height = conv.stride_width = 2;
  conv.pad_bottom = 2;
  conv.pad_left = 1;
  Layer layer = image_layer(conv);
  layer.packed = true;
  layer.dx = false;
  for (const char *name : {"test6x10", "test4x8"})
    for (const Schedule schedule : {Schedule::kDxMajor, Schedule::kSearch}) {
      const Compiled c = compile_known(layer, load_config(name), {schedule, Pass::kForward});
      EXPECT_GE(c.predicted_cycles, c.bounds.run_cycles) << name;
    }
}

TEST(Bounds, OfInputAndOutputGrowAsTheScratchpadShrinks) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 8192; // 4096 elements of bf16: 64 x 64
  npu.memory.bytes_num = 8;
  npu.memory.bytes_den = 1;
  // 2 x 10^9 / 64 - 2 x 4096 elements of 2 bytes, 8 a cycle
  EXPECT_EQ(bounds(make_layer(1000, 1000, 1000), Pass::kForward, npu).io_cycles, 7810452U);
  EXPECT_EQ(bounds(make_layer(1000, 1000, 1000), Pass::kBackward, npu).io_cycles,
            bounds(make_layer(1000, 2000, 1000), Pass::kForward, npu).io_cycles)
      << "the pair that shares dY is bound like one product of twice the work";
}

/// At the turn from the forward to the backward pass the scratchpad holds some of what both use, and memory the rest.
TEST(Bounds, OfAStepCountTheTurn) {
  Machine npu = load_config("test8"); // accesses and beats of 16 bytes; accumulators of 512 bytes
  npu.memory.bytes_num = 1;
  npu.memory.bytes_den = 1;
  const Layer layer = make_layer(64, 32, 16);
  const std::uint64_t x = 64 * 64, w = 32 * 32, y = 64 * 32, dw = 32 * 64;
  const auto traffic = [&](std::uint64_t spm_bytes) {
    npu.spm_bytes = spm_bytes;
    return bounds(layer, Pass::kBoth, npu).traffic_cycles;
  };
  const std::uint64_t once = x + w + y + y + x + dw;
  EXPECT_EQ(traffic(1U << 20), once) << "X and W stay";
  EXPECT_EQ(traffic(x + w - 512), once);
  EXPECT_EQ(traffic(x + w - 512 - 48), once + 48);
  EXPECT_EQ(traffic(1024), once + x + w - 1024 - 512);
  npu.spm_bytes = 1024;
  EXPECT_EQ(bounds(make_layer(64, 32, 16, false), Pass::kBoth, npu).traffic_cycles, once - x + x - 1024 - 512)
      << "without dX no W in the backward pass";

  // Y of the first is X of the second: neither is needed in memory, unless for the turn.
  std::vector<Layer> two{make_layer(64, 32, 16, false), make_layer(64, 16, 8)};
  two[0].name = "one";
  two[1].input = "one";
  two[1].index = 1;
  const Layout layout = make_layout(two, Pass::kBoth, npu);
  const std::uint64_t x0 = 64 * 64, w0 = 32 * 32, w1 = 16 * 16, y1 = 64 * 16, dw0 = 32 * 64, dw1 = 16 * 32;
  const std::uint64_t all = x0 + w0 + w1 + y1 + y1 + dw0 + dw1, between = 64 * 32;
  npu.spm_bytes = 1U << 20;
  EXPECT_EQ(lower_bounds(two, Pass::kBoth, layout, npu).traffic_cycles, all);
  npu.spm_bytes = 1024; // the intermediate first: each byte of it saves two
  EXPECT_EQ(lower_bounds(two, Pass::kBoth, layout, npu).traffic_cycles, all + x0 + w1 + 2 * (between - 1024 - 512));
}

TEST(Bounds, AFewBytesAtTheEndOfARowSaveAWholeAccess) {
  Machine npu = load_config("test8");
  npu.memory.bytes_num = 1;
  npu.memory.bytes_den = 1;
  const Layer layer = make_layer(1000, 9, 8, false); // rows of X: 18 bytes in accesses of 16
  npu.spm_bytes = 1488;                              // and 512 of accumulators: the last 2 bytes of each row
  const std::uint64_t once = 1000 * 32 + 9 * 16 + 2 * 1000 * 16 + 9 * 32;
  EXPECT_EQ(bounds(layer, Pass::kBoth, npu).traffic_cycles, once + 1000 * 16);
}

/// Whoever gives up early must not give up what is fast enough.
void expect_limits_hold(const Program &program, const Machine &npu, const std::string &what) {
  const std::uint64_t cycles = program_cycles(program, npu);
  EXPECT_EQ(program_cycles(program, npu, cycles + 1), cycles) << what;
  for (const std::uint64_t limit : {cycles, cycles * 9 / 10, cycles / 2, std::uint64_t{1}})
    EXPECT_GE(program_cycles(program, npu, limit), limit) << what;
  EXPECT_EQ(program_cycles(program, npu, cycles / 4), kTooSlow) << what;
  for (const std::uint64_t to_come : cycles_to_come(program, order_actions(program, npu), npu))
    EXPECT_LT(to_come, cycles) << what;
  const std::uint64_t estimate = estimate_cycles(program, npu, kTooSlow);
  EXPECT_EQ(estimate_cycles(program, npu, estimate + 1), estimate) << what;
  for (const std::uint64_t limit : {estimate, estimate * 9 / 10, estimate / 2})
    EXPECT_GE(estimate_cycles(program, npu, limit), limit) << what;
}

/// Of allocations that are given up: exactly those that move as much as the limit, or more.
void expect_traffic_is_limited(const std::vector<PhasePlan> &plans, const Program &program, const Layout &layout,
                               const Machine &npu) {
  for (const std::uint32_t command : {0U, 64U}) {
    std::uint64_t moved = program.actions.size() * command;
    for (const Action &a : program.actions)
      moved += dram_bytes_of(program, a, npu);
    std::uint64_t lost = 0;
    EXPECT_FALSE(allocate(plans, program.layers, layout, npu, {moved, command}, &lost));
    EXPECT_EQ(lost, program.products.size());
    const auto again = allocate(plans, program.layers, layout, npu, {moved + 1, command}, &lost);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->actions.size(), program.actions.size());
  }
}

/// Of each product: bytes of the tiles that the program loads for it, and has not loaded before.
std::vector<std::uint64_t> first_loads(const Program &program, const Machine &npu) {
  std::vector<std::uint64_t> bytes(program.products.size());
  std::set<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> seen;
  std::uint64_t loaded = 0;
  for (const Action &a : program.actions) {
    if (const TileForm &form = program.form(a);
        a.kind == Action::Kind::kLoad && !a.spill && seen.insert({a.memory.address, form.rows, form.cols}).second)
      loaded += dram_bytes_of(program, a, npu);
    if (a.computes()) bytes[a.product] = std::exchange(loaded, 0);
  }
  return bytes;
}

/// The estimate of programs whose tiles are placed: of one that is fast enough exact, and who gives up is right. What
/// is known of a program of the products, or of its loads, makes no difference.
void expect_running_estimate_holds(const std::vector<PhasePlan> &plans, const Program &program, const Layout &layout,
                                   const Machine &npu, const std::vector<std::uint64_t> &loads) {
  const TileWalk walk(plans, program.layers, layout, npu);
  const std::uint64_t exact = estimate_cycles(program, npu, kTooSlow);
  RunningEstimate running(npu);
  for (std::size_t i = 0; i < program.products.size(); ++i)
    running.add_product(program.products[i], program.layers[program.products[i].layer], loads[i]);
  for (const std::uint64_t limit : {exact + 1, exact, exact * 9 / 10, exact / 2, exact + 1}) {
    const bool begins = running.begin(limit);
    EXPECT_TRUE(begins || limit <= exact);
    std::uint64_t lost = 0;
    const auto placed = allocate(plans, walk, traffic_limit(limit, false, npu), &lost, &running);
    EXPECT_EQ(lost, placed ? 0 : program.products.size());
    if (limit > exact) {
      ASSERT_TRUE(placed);
      EXPECT_EQ(running.end(*placed), exact);
    } else if (placed) {
      EXPECT_GE(running.end(*placed), limit);
    }
  }
}

class BoundsOn : public testing::TestWithParam<std::string> {};

TEST_P(BoundsOn, NoStreamBeatsItsBounds) {
  const Machine npu = load_config(GetParam());
  const std::uint32_t most = npu.lanes() < 8 ? 15 : 60; // tiles are products, and these take time
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 rng(seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 3 == 0 ? 5 * most : most)); };
    const Layer layer = make_layer(side(), side(), side(), rng() % 4 != 0);
    const auto pass = static_cast<Pass>(rng() % 3);
    for (const Schedule schedule : all_schedules()) {
      CompileOptions options{schedule, pass};
      options.plans = 60;
      const Compiled c = compile_known(layer, npu, options);
      EXPECT_GE(c.predicted_cycles, c.bounds.run_cycles)
          << fmt::format("{} {} {} {} seed {}", npu.name, layer.name, to_string(schedule), to_string(pass), seed);
      EXPECT_GE(c.predicted_cycles, c.compute_cycles) << layer.name;
    }
  }
}

/// Around two LOADs of a few rows and one block nearly all is what a run cannot do without.
TEST_P(BoundsOn, NoTinyStreamBeatsItsBounds) {
  const Machine npu = load_config(GetParam());
  for (const std::uint32_t m : {1, 3, 6, 12, 18, 24})
    for (const std::uint32_t k : {1, 2, 3})
      for (const std::uint32_t n : {1, 4, 5})
        for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
          CompileOptions options{Schedule::kRearrange, pass};
          options.plans = 5;
          const Layer layer = make_layer(m, k, n, false);
          const Compiled c = compile_known(layer, npu, options);
          EXPECT_GE(c.predicted_cycles, c.bounds.run_cycles) << npu.name << " " << layer.name << " " << to_string(pass);
        }
}

TEST_P(BoundsOn, NoProgramBeatsTheBoundThatPrunes) {
  const Machine npu = load_config(GetParam());
  for (const Layer &layer : {make_layer(50, 61, 29), make_layer(7, 120, 90), make_layer(128, 16, 16)})
    for (const Schedule schedule : {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor}) {
      const Layout layout = make_layout({layer}, Pass::kBoth, npu);
      for (std::vector<PhasePlan> plans : search(layer, schedule, Pass::kBoth, {}, layout, npu, 0.2)) {
        for (PhasePlan &plan : plans)
          plan.products = plan_products(plan, layer, npu);
        const Program program = allocate(plans, {layer}, layout, npu).value();
        EXPECT_LE(program_bound(program, npu), program_cycles(program, npu)) << layer.name << " " << describe(plans);
        expect_limits_hold(program, npu, describe(plans));
        expect_running_estimate_holds(plans, program, layout, npu, first_loads(program, npu));
        expect_running_estimate_holds(plans, program, layout, npu, std::vector<std::uint64_t>(program.products.size()));
        expect_traffic_is_limited(plans, program, layout, npu);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Configs, BoundsOn,
                         testing::Values("test2x2", "test4x8", "test8", "test6x10", "test13x7", "test16", "small"),
                         [](const auto &param_info) { return param_info.param; });

/// The bounds are tight enough to be broken: half the bandwidth, or half the PEs, and a run that is possible is below.
TEST(Bounds, OfASlowerNpuAreBeaten) {
  const Machine npu = load_config("small");
  const Compiled memory = compile_known(make_layer(4, 312, 312), npu, {});
  Machine slow = npu;
  slow.memory.bytes_den *= 2;
  EXPECT_GT(bounds(memory.layer(), Pass::kBackward, slow).run_cycles, memory.predicted_cycles);

  const Compiled compute = compile_known(make_layer(450, 450, 450), npu, {});
  Machine few = npu;
  few.rows /= 2;
  EXPECT_GT(bounds(compute.layer(), Pass::kBackward, few).run_cycles, compute.predicted_cycles);
}

} // namespace
} // namespace gradweave::compiler
