// Partitioned layers, on one core and on several, on the functional model: every bit equals the golden model's under
// the layer's reduction plan.
#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/search/search.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

Machine with_cores(const std::string &name, std::uint32_t cores) {
  Machine npu = load_config(name);
  npu.cores = cores;
  npu.semaphores = 128;
  npu.spm_bytes *= cores;
  npu.spm_banks *= cores;
  return npu;
}

void expect_golden(const Layer &layer, const Machine &npu, const CompileOptions &options, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("{} x {} {} groups {} dx={} {} {} {} in {} {} seed {}", npu.name, npu.cores, layer.name,
                           layer.groups, layer.dx, to_string(options.schedule), to_string(options.pass),
                           to_string(options.partition), options.parts,
                           options.sharing == Sharing::kTurns ? "turns" : to_string(options.reduction), seed));
  const LayerOperands operands = make_operands(layer, seed, seed % 2 == 1);
  const Compiled compiled = compile_known(layer, npu, options);
  const auto golden = golden_results(layer, options.pass, operands, compiled.reductions.front());
  const auto results = functional_results(compiled, npu, operands);
  ASSERT_EQ(results.size(), golden.size());
  for (const auto &[tensor, bits] : golden)
    EXPECT_TRUE(results.at(tensor) == bits) << to_string(tensor);
}

class Cores : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Cores, EveryPartitionAndScheduleIsGolden) {
  const std::uint32_t cores = GetParam();
  std::mt19937_64 rng(cores);
  for (const std::string name : {"test8", "test6x10"})
    for (const Partition partition : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing})
      for (const Reduction reduction : {Reduction::kChain, Reduction::kAdd})
        for (const Schedule schedule :
             {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor}) {
          const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? 90 : 40)); };
          CompileOptions options;
          options.schedule = schedule;
          options.plans = 20;
          options.pass = rng() % 3 == 0 ? Pass::kBoth : Pass::kBackward;
          options.partition = partition;
          options.reduction = reduction;
          const Layer layer = make_layer(side(), side(), side(), rng() % 8 != 0);
          expect_golden(layer, with_cores(name, cores), options, rng());
        }
}

TEST_P(Cores, ThatTakeTurnsGiveTheBitsOfOne) {
  const std::uint32_t cores = GetParam();
  std::mt19937_64 rng(cores);
  for (const Partition partition : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing})
    for (const Schedule schedule :
         {Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor}) {
      const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? 90 : 40)); };
      CompileOptions options;
      options.schedule = schedule;
      options.plans = 20;
      options.pass = rng() % 3 == 0 ? Pass::kBoth : rng() % 3 == 0 ? Pass::kForward : Pass::kBackward;
      options.partition = partition;
      options.sharing = Sharing::kTurns;
      Layer layer = make_layer(side(), side(), side(), rng() % 8 != 0);
      if (rng() % 4 == 0) layer.groups = 3;
      const Machine npu = with_cores("test8", cores);
      expect_golden(layer, npu, options, rng());
      EXPECT_TRUE(compile_known(layer, npu, options).reductions.front().of(Tensor::kDW).empty()) << "no sums are added";
    }
}

INSTANTIATE_TEST_SUITE_P(Partition, Cores, testing::Values(1, 2, 3, 4, 8));

/// The cores, and the first indices along the dimension, of a small layer's products in order.
std::string walk(PhaseKind kind, Dim dim, const LoopOrder &loops, const TileShape &tile) {
  PhasePlan plan;
  plan.kind = kind;
  plan.parts = {dim, 3, 3, Reduction::kChain, Sharing::kTurns};
  plan.loops = loops;
  plan.tile = tile;
  std::string text;
  for (const TileProduct &p : plan_products(plan, make_layer(20, 8, 8), load_config("test6x10c3")))
    text += fmt::format("{}:{},{},{} ", p.core, p.m, p.k, p.n);
  return text;
}

TEST(Turns, GiveNeighboursToTheCoresAndRunInnerLoopsForAllOfThem) {
  EXPECT_EQ(walk(PhaseKind::kForward, Dim::kM, {Dim::kM, Dim::kK, Dim::kN}, {5, 8, 4}),
            "0:0,0,0 1:5,0,0 2:10,0,0 0:0,0,4 1:5,0,4 2:10,0,4 0:15,0,0 0:15,0,4 ");
  EXPECT_EQ(walk(PhaseKind::kForward, Dim::kN, {Dim::kM, Dim::kN, Dim::kK}, {20, 4, 4}),
            "0:0,0,0 1:0,0,4 0:0,4,0 1:0,4,4 ");
}

TEST(Turns, AlongAReductionPassTheSumOn) {
  EXPECT_EQ(walk(PhaseKind::kDw, Dim::kM, {Dim::kK, Dim::kN, Dim::kM}, {5, 8, 8}),
            "0:0,0,0 1:5,0,0 2:10,0,0 0:15,0,0 ");
}

/// A plan that gave the second core the first one's tile would compute it twice.
TEST(Turns, ATileThatIsTakenTwiceIsSeen) {
  PhasePlan plan;
  plan.kind = PhaseKind::kForward;
  plan.parts = {Dim::kM, 3, 3, Reduction::kChain, Sharing::kTurns};
  plan.loops = {Dim::kM, Dim::kN, Dim::kK};
  plan.tile = {5, 8, 8};
  const Layer layer = make_layer(20, 8, 8);
  std::vector<TileProduct> products = plan_products(plan, layer, load_config("test6x10c3"));
  ASSERT_EQ(verify_order(products, layer, Pass::kForward), "");
  products[1].m = products[0].m;
  EXPECT_NE(verify_order(products, layer, Pass::kForward), "");
}

/// Cores at neighbouring rows of an image read one tile, with one halo.
TEST(Turns, NeighboursReadOneTileOfAnImage) {
  Convolution conv;
  conv.batch = 1;
  conv.height = 12;
  conv.width = 4;
  conv.channels = 3;
  conv.out_channels = 5;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_left = conv.pad_bottom = conv.pad_right = 1;
  const Layer layer = image_layer(conv);
  PhasePlan plan;
  plan.kind = PhaseKind::kForward;
  plan.parts = {Dim::kM, 3, 3, Reduction::kChain, Sharing::kTurns};
  plan.loops = {Dim::kM, Dim::kN, Dim::kK};
  plan.tile = {8, layer.k, layer.n}; // two rows of four pixels
  const std::vector<TileProduct> products = plan_products(plan, layer, load_config("test6x10c3"));
  ASSERT_EQ(products.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Rect read = roles(products[i], layer).a_rect;
    EXPECT_EQ(read.row, 0U);
    EXPECT_EQ(read.rows, 7 * 4U) << "three times two rows, and the one below";
  }
}

TEST(Partition, MorePartsThanCoresAreGolden) {
  std::mt19937_64 rng(1);
  for (const Partition partition : {Partition::kWeightSharing, Partition::kDySharing, Partition::kIfmapSharing})
    for (const Reduction reduction : {Reduction::kChain, Reduction::kAdd})
      for (const std::uint32_t parts : {2U, 5U, 7U}) {
        CompileOptions options;
        options.plans = 20;
        options.partition = partition;
        options.reduction = reduction;
        options.parts = parts;
        expect_golden(make_layer(37, 23, 29), with_cores("test8", 1 + rng() % 3), options, rng());
      }
}

TEST(Partition, GroupsAreGolden) {
  std::mt19937_64 rng(2);
  for (const std::uint32_t cores : {1U, 4U})
    for (const Partition partition : all_partitions())
      for (const auto &[m, k, n, groups] :
           std::vector<std::array<std::uint32_t, 4>>{{30, 9, 1, 11}, {17, 13, 5, 3}, {9, 20, 12, 2}}) {
        Layer layer = make_layer(m, k, n);
        layer.groups = groups;
        CompileOptions options;
        options.plans = 20;
        options.pass = Pass::kBoth;
        options.partition = partition;
        options.reduction = Reduction::kAdd;
        expect_golden(layer, with_cores("test6x10", cores), options, rng());
      }
}

/// Sums that do not fit beside each other go to DRAM and come back for their ADD.
TEST(Partition, SpilledSumsAreAdded) {
  Machine npu = with_cores("test8", 2);
  npu.spm_bytes = 3072;
  npu.spm_banks = 2;
  CompileOptions options;
  options.schedule = Schedule::kDxMajor;
  options.partition = Partition::kWeightSharing;
  options.reduction = Reduction::kAdd;
  const Layer layer = make_layer(64, 48, 48);
  const Compiled compiled = compile_known(layer, npu, options);
  const Traffic &dw = compiled.traffic.front()[static_cast<std::size_t>(Tensor::kDW)];
  EXPECT_GT(dw.spill_write_bytes, 0U);
  EXPECT_EQ(compiled.reductions.front().of(Tensor::kDW), std::vector<std::uint32_t>{32});
  expect_golden(layer, npu, options, 3);
}

TEST(Partition, ChainsKeepTheBitsOfOneCore) {
  const Layer layer = make_layer(50, 30, 20);
  CompileOptions options;
  options.partition = Partition::kWeightSharing;
  EXPECT_TRUE(compile_known(layer, with_cores("test8", 4), options).reductions.front().of(Tensor::kDW).empty());
  options.reduction = Reduction::kAdd;
  const Compiled added = compile_known(layer, with_cores("test8", 4), options);
  EXPECT_EQ(added.reductions.front().of(Tensor::kDW).size(), 3U);
  const LayerOperands operands = make_operands(layer, 5, false);
  EXPECT_FALSE(golden_results(layer, Pass::kBackward, operands, {}).at(Tensor::kDW) ==
               functional_results(added, with_cores("test8", 4), operands).at(Tensor::kDW))
      << "sums from zero that are added differ from one sum: without its plan a golden model must not agree";
}

TEST(Partition, BoundsAreWholeUnitsOrSingleIndices) {
  EXPECT_EQ(part_bounds(100, 4, 8), (std::vector<std::uint32_t>{0, 24, 48, 72, 100}));
  EXPECT_EQ(part_bounds(10, 4, 8), (std::vector<std::uint32_t>{0, 2, 5, 7, 10}));
  EXPECT_EQ(part_bounds(3, 3, 8), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_THROW(part_bounds(3, 4, 8), std::invalid_argument);
  EXPECT_THROW(part_bounds(3, 0, 8), std::invalid_argument);
}

TEST(Partition, MorePartsThanIndicesAreRefused) {
  CompileOptions options;
  options.partition = Partition::kDySharing;
  options.parts = 9;
  try {
    compile_known(make_layer(20, 20, 8), load_config("test8"), options);
    FAIL();
  } catch (const CompileError &error) {
    EXPECT_NE(std::string(error.what()).find("cannot cut N = 8 into 9 parts"), std::string::npos) << error.what();
  }
}

TEST(Partition, APartIsAddedToTheSumOfAllBeforeIt) {
  const Machine npu = load_config("test8");
  CompileOptions options{Schedule::kSequential, Pass::kBackward};
  options.partition = Partition::kDySharing;
  options.reduction = Reduction::kAdd;
  options.parts = 3;
  options.plans = 1;
  Compiled c = compile_known(make_layer(8, 8, 48), npu, options);
  std::vector<std::size_t> adds;
  for (std::size_t i = 0; i < c.stream.size(); ++i)
    if (std::holds_alternative<isa::AddCommand>(isa::decode(c.stream[i])->op)) adds.push_back(i);
  ASSERT_EQ(adds.size(), 2U);
  ASSERT_EQ(verify_stream(c, npu), "");
  // The third part is added to the second alone.
  isa::Decoded last = *isa::decode(c.stream[adds[1]]);
  std::get<isa::AddCommand>(last.op).a = std::get<isa::AddCommand>(isa::decode(c.stream[adds[0]])->op).cin;
  c.stream[adds[1]] = isa::encode(last);
  EXPECT_NE(verify_stream(c, npu).find("which is not in the reduction plan"), std::string::npos)
      << verify_stream(c, npu);
}

TEST(Partition, AProgramAddsAPartToTheSumOfAllBeforeIt) {
  const Machine npu = load_config("test8");
  const Layer layer = make_layer(8, 8, 48);
  const Cut cut{Partition::kDySharing, 3, Reduction::kAdd};
  const Layout layout = make_layout({layer}, Pass::kBackward, npu);
  std::vector<PhasePlan> plans = search(layer, Schedule::kSequential, Pass::kBackward, cut, layout, npu, 0.05).front();
  for (PhasePlan &p : plans)
    p.products = plan_products(p, layer, npu);
  Program program = allocate(plans, {layer}, layout, npu).value();
  ASSERT_EQ(verify_program(program, layout, npu), "");
  std::vector<Action *> adds;
  for (Action &a : program.actions)
    if (a.kind == Action::Kind::kAdd) adds.push_back(&a);
  ASSERT_EQ(adds.size(), 2U);
  adds[1]->in.a = adds[0]->in.cin; // the second part alone
  EXPECT_NE(verify_program(program, layout, npu), "");
}

/// Damage to the products of a layer cut in two, and what verify_order() says of it.
TEST(Partition, DamagedPlansAreNamed) {
  const Layer layer = make_layer(16, 8, 8);
  PhasePlan plan;
  plan.kind = PhaseKind::kDw;
  plan.parts = {Dim::kM, 2, 2, Reduction::kAdd};
  plan.tile = {8, 8, 8};
  plan.loops = {Dim::kK, Dim::kN, Dim::kM};
  const Machine npu = with_cores("test8", 2);
  ReductionPlans plans;
  add_reductions(plan, layer, npu, plans);
  Layer no_dx = layer;
  no_dx.dx = false;
  const std::vector<TileProduct> good = plan_products(plan, no_dx, npu);
  ASSERT_EQ(good.size(), 3U);
  EXPECT_EQ(verify_order(good, no_dx, Pass::kBackward, plans), "");
  const auto damaged = [&](auto damage) {
    std::vector<TileProduct> products = good;
    damage(products);
    return verify_order(products, no_dx, Pass::kBackward, plans);
  };
  const auto says = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(says(damaged([](auto &p) { p.pop_back(); }), "ends at 8 of 16"));
  EXPECT_TRUE(says(damaged([](auto &p) { p = {p[1]}; }), "is never added"));
  EXPECT_TRUE(says(damaged([](auto &p) { p[2].part = 2; }), "a part that no plan has"));
  EXPECT_TRUE(says(damaged([](auto &p) { p[2].m = 0; }), "another range"));
  EXPECT_TRUE(says(damaged([](auto &p) { std::swap(p[1], p[2]); }), "a part that is not complete"));
  EXPECT_TRUE(says(damaged([](auto &p) { p.push_back(p.back()); }), "not complete"));
  EXPECT_TRUE(says(damaged([](auto &p) { p[1].part = 0; }), "beyond its part"));
  EXPECT_TRUE(says(verify_order(good, no_dx, Pass::kBackward), "a part that no plan has"));
}

} // namespace
} // namespace gradweave::compiler
