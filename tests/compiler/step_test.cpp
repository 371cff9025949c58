// Layers compiled into one stream, on the functional model: every bit of every result equals the golden model's,
// whatever stays in the scratchpad between them.
#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/schedule/step/step_placement.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/verify/verify.hpp"
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

namespace gradweave::compiler {
namespace {

/// Layers of which some read the one before, some its X, and some nothing of the network.
std::vector<Layer> random_layers(std::mt19937_64 &rng) {
  std::vector<Layer> layers;
  const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % 40); };
  const std::uint32_t m = side();
  for (std::uint32_t i = 0; i < 2 + rng() % 5; ++i) {
    Layer l;
    l.name = fmt::format("l{}", i);
    l.index = i;
    l.m = rng() % 5 == 0 ? side() : m;
    l.k = side();
    l.n = side();
    l.dx = i > 0 && rng() % 5 != 0;
    if (i > 0 && rng() % 4 != 0) {
      const Layer &from = layers[rng() % i];
      l.m = from.m;
      if (rng() % 3 == 0) {
        l.x_of = from.name;
        l.k = from.k * from.groups;
      } else {
        l.input = from.name;
        l.k = from.n * from.groups;
        if (rng() % 5 == 0) l.k += 1; // reads it in another form
      }
    }
    layers.push_back(l);
  }
  return layers;
}

/// Two layers, forward and back: with room for all everything stays that is used again; with little, nothing does.
TEST(Step, ThePlacementKeepsWhatThereIsRoomFor) {
  std::vector<Layer> layers(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    layers[i].name = fmt::format("l{}", i);
    layers[i].index = i;
    layers[i].m = 16;
    layers[i].k = i == 0 ? 64 : 32;
    layers[i].n = i == 0 ? 32 : 48;
    layers[i].dx = i > 0;
  }
  layers[1].input = "l0";
  Machine npu = load_config("test8");
  const Layout layout = make_layout(layers, Pass::kBoth, npu);
  std::vector<PhasePlan> forward(1), dw(1), back(2);
  forward[0].kind = PhaseKind::kForward;
  dw[0].kind = back[1].kind = PhaseKind::kDw;
  back[0].kind = PhaseKind::kDx;
  for (std::vector<PhasePlan> *plans : {&forward, &dw, &back})
    for (PhasePlan &plan : *plans)
      plan.tile = {8, 8, 8};
  const std::vector<PlacedSection> sections{{0, &forward}, {1, &forward}, {1, &back}, {0, &dw}};
  npu.spm_bytes = 1 << 20;
  const std::vector<TakenOver> all = place_tensors(sections, layers, layout, npu);
  EXPECT_FALSE(all[0].any);
  EXPECT_EQ(all[1].from, (std::vector<std::size_t>{0}));    // Y of the first layer
  EXPECT_EQ(all[2].from, (std::vector<std::size_t>{1, 1})); // its X and W
  EXPECT_EQ(all[3].from, (std::vector<std::size_t>{0, 2})); // X, and dX of the second layer
  npu.spm_bytes = 1 << 10;
  for (const TakenOver &t : place_tensors(sections, layers, layout, npu))
    EXPECT_TRUE(t.from.empty());
}

void expect_golden_chains(std::uint64_t begin, std::uint64_t end) {
  const char *several_cores[] = {"test8c2", "test6x10c3", "test8c4"};
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    std::mt19937_64 rng(seed);
    Machine npu = load_config(seed > 30 ? several_cores[seed % 3] : seed % 3 == 0 ? "test6x10" : "test8");
    if (rng() % 2 == 0) npu.spm_bytes *= 8;
    const std::vector<Layer> layers = random_layers(rng);
    StepOptions options;
    options.pass = static_cast<Pass>(rng() % 3);
    options.layer_plans = 10;
    options.step_plans = 40;
    options.start = seed % 2 == 0 ? StepStart::kPlacement : StepStart::kReuse;
    SCOPED_TRACE(fmt::format("seed {} {} layers {}", seed, layers.size(), to_string(options.pass)));
    const SearchedStep found = search_step(layers, npu, options);
    const Compiled step = compile_plans(layers, options.pass, found.plans, npu);
    EXPECT_EQ(step.predicted_cycles, found.cost);
    EXPECT_LE(found.cost, found.first_cost);
    for (const LayerCosts &layer : found.layers) {
      const bool fused = options.pass == Pass::kBackward && layer.searched < layer.conventional;
      EXPECT_TRUE(!fused || layer.order != Schedule::kSequential);
    }
    EXPECT_GE(step.predicted_cycles, step.bounds.run_cycles);
    expect_golden(step, npu, seed);
  }
}

/// The last of them on several cores.
TEST(Step, RandomChainsAreGolden) { expect_golden_chains(25, 37); }
TEST(Step, ManyRandomChainsAreGolden) { expect_golden_chains(1, 25); }

/// Two layers whose tensors all fit: what the first computes never leaves the scratchpad.
struct Pair {
  Machine npu = load_config("test8");
  std::vector<Layer> layers{make_layer(16, 24, 8, false), make_layer(16, 8, 24)};
  SearchedStep found;
  Compiled step;
  explicit Pair(Pass pass) {
    npu.spm_bytes *= 16;
    layers[0].name = "first";
    layers[1].name = "second";
    layers[1].index = 1;
    layers[1].input = "first";
    StepOptions options;
    options.pass = pass;
    options.layer_plans = 50;
    options.step_plans = 300;
    found = search_step(layers, npu, options);
    step = compile_plans(layers, pass, found.plans, npu);
  }
  std::uint64_t bytes(Tensor t) const { return bytes(t, step); }
  /// The step with each tensor as one tile; tiles stay for phases up to `reach` later.
  Compiled in_whole_tiles(std::uint32_t reach) const {
    std::vector<PhasePlan> plans = found.plans; // Y, Y; dX and dW in some order; dW
    const RowRange all{0, npu.spm_rows()};
    for (PhasePlan &plan : plans) {
      const Layer &layer = layers[plan.layer];
      plan.tile = {layer.m, layer.k, layer.n};
      plan.split = {all, all, all};
      plan.starts_empty = false;
      plan.reach = reach;
      plan.products = plan_products(plan, layer, npu);
    }
    return compile_plans(layers, step.jobs.pass_of(0), plans, npu);
  }
  static std::uint64_t bytes(Tensor t, const Compiled &step) {
    std::uint64_t sum = 0;
    for (const auto &traffic : step.traffic)
      sum += traffic[static_cast<std::size_t>(t)].read_bytes + traffic[static_cast<std::size_t>(t)].write_bytes;
    return sum;
  }
};

TEST(Step, IntermediatesStayInTheScratchpad) {
  const Pair p(Pass::kBoth);
  EXPECT_EQ(p.step.layout.place(0, Tensor::kY), p.step.layout.place(1, Tensor::kX));
  EXPECT_EQ(p.step.layout.place(0, Tensor::kDY), p.step.layout.place(1, Tensor::kDX));
  EXPECT_EQ(p.bytes(Tensor::kDX), 0U);
  EXPECT_EQ(p.bytes(Tensor::kY), 2U * 16 * 24) << "only the last layer's";
  EXPECT_EQ(Pair::bytes(Tensor::kX, p.in_whole_tiles(0)), 2U * 16 * 24) << "only the first layer's, once";
  EXPECT_LT(p.step.predicted_cycles, p.found.apart_cost);
  ASSERT_EQ(p.step.tilings.size(), 2U);
  for (const std::string &tiling : p.step.tilings)
    EXPECT_NE(tiling, "");
}

TEST(Step, NothingStaysForPhasesThatStartEmpty) {
  const Pair p(Pass::kBoth);
  std::vector<PhasePlan> plans = p.found.plans;
  for (PhasePlan &plan : plans) {
    plan.starts_empty = true;
    plan.woven = plan.joined = false; // phases that run together share tiles
  }
  const Compiled step = compile_plans(p.layers, Pass::kBoth, plans, p.npu);
  expect_golden(step, p.npu, 1);
  EXPECT_EQ(Pair::bytes(Tensor::kDX, step), 2U * 2 * 16 * 8) << "written by the second layer, read by the first";
  EXPECT_EQ(Pair::bytes(Tensor::kY, step), 2U * 16 * 24 + 3 * 2U * 16 * 8)
      << "the first layer's is read by the second's forward pass and by its dW";
}

/// What a phase leaves only for phases beyond its reach is stored and loaded again.
TEST(Step, NothingStaysBeyondItsReach) {
  const Pair p(Pass::kBoth);
  const Compiled step = p.in_whole_tiles(1);
  expect_golden(step, p.npu, 1);
  EXPECT_EQ(Pair::bytes(Tensor::kX, step), 2U * 2 * 16 * 24) << "the first layer's X, once for each pass";
  EXPECT_EQ(Pair::bytes(Tensor::kX, p.in_whole_tiles(4)), 2U * 16 * 24) << "its dW is four phases after its Y";
}

/// The step, the layers apart, and the conventional schedule that as much work finds.
TEST(Step, IsNoSlowerThanItsLayersOrTheConventionalSchedule) {
  const Machine npu = load_config("small");
  const std::vector<Layer> layers = load_network("models/ncf.graph", 4).layers;
  StepOptions options;
  options.layer_plans = 24;
  options.step_plans = 400;
  const SearchedStep found = search_step(layers, npu, options);
  std::uint64_t conventional = 0, searched = 0;
  for (const LayerCosts &layer : found.layers) {
    EXPECT_LE(layer.searched, layer.conventional);
    conventional += layer.conventional;
    searched += layer.searched;
  }
  EXPECT_EQ(searched, found.apart_cost);
  EXPECT_LT(found.cost, searched);
  EXPECT_LT(searched, conventional);
  EXPECT_GT(found.starts, 1U);
  EXPECT_GE(found.conventional_work.bursts, found.work.bursts * 3 / 4) << "a last walk came after it";
  EXPECT_GT(found.work.tried, found.work.simulated);
}

/// Plans, and all that the search says of its work but the seconds.
std::string told(const SearchedStep &found, const std::vector<Layer> &layers, const Machine &npu, Pass pass) {
  std::string text;
  const auto add = [&](const SearchWork &work) {
    text += fmt::format("{} tried {} simulated {} bursts\n", work.tried, work.simulated, work.bursts);
  };
  add(found.work);
  add(found.conventional_work);
  for (const StepFall &fall : found.falls)
    text += fmt::format("{} at {}\n", fall.cost, fall.simulated);
  for (const isa::Command &command : compile_plans(layers, pass, found.plans, npu).stream)
    for (const std::uint32_t word : command.words)
      text += fmt::format("{:x} ", word);
  return text;
}

/// What threads price ahead and is not wanted then leaves no trace: neither in the plans nor in what is counted.
TEST(Step, IsTheSameWithAnyNumberOfThreads) {
  const Machine npu = load_config("small"), several = load_config("test8c4");
  const std::vector<Layer> layers = load_network("models/ncf.graph", 4).layers;
  std::mt19937_64 rng(35);
  const std::vector<Layer> chain = random_layers(rng);
  const auto search = [&](const std::vector<Layer> &of, const Machine &on, StepStart start, unsigned threads) {
    StepOptions options;
    options.layer_plans = 12;
    options.step_plans = 60;
    options.start = start;
    options.weave_again = start == StepStart::kReuse;
    options.threads = threads;
    return told(search_step(of, on, options), of, on, Pass::kBoth);
  };
  for (const StepStart start : {StepStart::kReuse, StepStart::kPlacement}) {
    const std::string alone = search(layers, npu, start, 1), on_several = search(chain, several, start, 1);
    for (const unsigned threads : {2U, 5U}) {
      EXPECT_EQ(search(layers, npu, start, threads), alone) << threads;
      EXPECT_EQ(search(chain, several, start, threads), on_several) << threads;
    }
  }
}

TEST(Step, WovenAgainIsNoSlowerAndHasItsWorkMadeGood) {
  const Machine npu = load_config("small");
  const std::vector<Layer> layers = load_network("models/ncf.graph", 4).layers;
  StepOptions options;
  options.layer_plans = 12;
  options.step_plans = 60;
  const SearchedStep once = search_step(layers, npu, options);
  options.weave_again = true;
  const SearchedStep again = search_step(layers, npu, options);
  EXPECT_LE(again.cost, once.cost);
  EXPECT_GT(again.work.bursts, once.work.bursts);
  EXPECT_GE(again.conventional_work.bursts, again.work.bursts * 3 / 4) << "a last walk came after it";
}

/// Not only between layers: a layer's own plans would take hours here.
TEST(Step, WhatTheProgressThrowsEndsEveryThreadAtItsNextPlan) {
  const std::vector<Layer> layers = load_network("models/ncf.graph", 4).layers;
  StepOptions options;
  options.layer_plans = 10'000'000;
  options.threads = 3;
  std::size_t told = 0;
  options.progress = [&](std::uint64_t, std::uint64_t) {
    if (++told == 20) throw std::runtime_error("stop");
    EXPECT_LT(told, 20U) << "asked again after it threw";
  };
  EXPECT_THROW(search_step(layers, load_config("small"), options), std::runtime_error);
  EXPECT_EQ(told, 20U);
}

TEST(Step, MorePlansDoNotMakeItSlower) {
  const Machine npu = load_config("large");
  const std::vector<Layer> layers = load_network("models/dlrm.graph", 8).layers;
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t plans : {12U, 48U, 192U}) {
    StepOptions options;
    options.layer_plans = plans;
    options.step_plans = 10 * plans;
    const std::uint64_t cycles = search_step(layers, npu, options).cost;
    EXPECT_LE(static_cast<double>(cycles), 1.01 * static_cast<double>(before)) << plans;
    before = std::min(before, cycles);
  }
}

/// Tiles that are cut like another layer's: of images, dX counts the terms of all taps along N, and others do not.
TEST(Step, LayersAreCutLikeLayersOfImages) {
  Convolution conv;
  conv.batch = 8;
  conv.height = conv.width = 28;
  conv.channels = conv.out_channels = 128;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  std::vector<Layer> layers(2, image_layer(conv));
  layers[0] = {"reduce", conv.m(), 512, 128};
  layers[1].index = 1;
  layers[1].input = "reduce";
  const Machine npu = load_config("large");
  for (const StepStart start : {StepStart::kReuse, StepStart::kPlacement}) {
    StepOptions options;
    options.layer_plans = 10;
    options.step_plans = 60;
    options.start = start;
    const SearchedStep found = search_step(layers, npu, options);
    EXPECT_EQ(compile_plans(layers, Pass::kBoth, found.plans, npu).predicted_cycles, found.cost);
  }
}

TEST(Step, LayersThatExceedTheMemoryTogetherAreRefused) {
  const Pair p(Pass::kBoth);
  Machine npu = p.npu;
  npu.memory.size_bytes = p.step.dram_bytes - 1;
  try {
    compile_plans(p.layers, Pass::kBoth, p.found.plans, npu);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_NE(std::string(e.what()).find("bytes of device memory together"), std::string::npos) << e.what();
  }
}

/// dX of a layer is dY of the one before it only if no other layer reads that Y, by its name or as the X of a twin.
TEST(Step, SeveralReadersHaveTheirOwnGradients) {
  const Machine npu = load_config("test8");
  std::vector<Layer> layers{make_layer(8, 8, 8), make_layer(8, 8, 8), make_layer(8, 8, 8)};
  for (std::uint32_t i = 0; i < 3; ++i)
    layers[i].name = fmt::format("l{}", i);
  layers[1].input = "l0";
  const auto shares = [&] {
    const Layout layout = make_layout(layers, Pass::kBoth, npu);
    return layout.place(0, Tensor::kDY) == layout.place(1, Tensor::kDX);
  };
  EXPECT_TRUE(shares());
  layers[2].x_of = "l1";
  EXPECT_FALSE(shares());
  layers[2].x_of.clear();
  layers[2].input = "l0";
  EXPECT_FALSE(shares());
}

TEST(Step, VerifyNamesWhatLayersReadOfEachOther) {
  const Pair p(Pass::kForward);
  const auto damaged = [&](const std::function<void(Compiled &)> &damage) {
    Compiled s = p.step;
    damage(s);
    return verify_stream(s, p.npu);
  };
  const auto says = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  EXPECT_EQ(damaged([](Compiled &) {}), "");
  const auto y = static_cast<std::size_t>(p.step.layout.place(0, Tensor::kY));
  const std::string missing = damaged([&](Compiled &s) { s.layout.tensors[y].result = true; });
  EXPECT_TRUE(says(missing, "elements are missing")) << missing;
  const std::string input = damaged([&](Compiled &s) { s.layout.tensors[y].input = true; });
  EXPECT_TRUE(says(input, "does not describe it")) << input;
}

/// Gradients wait for all Y of a step: plans that weave the two passes are no step.
TEST(Step, VerifyRefusesAGradientBeforeTheLastY) {
  const Pair p(Pass::kBoth);
  std::vector<PhasePlan> plans = p.found.plans;
  for (PhasePlan &plan : plans) {
    plan.tile = {8, 8, 8};
    plan.woven = plan.joined = false;
    plan.products = plan_products(plan, p.layers[plan.layer], p.npu);
  }
  expect_golden(compile_plans(p.layers, Pass::kBoth, plans, p.npu), p.npu, 5);
  plans[2].woven = true;
  try {
    compile_plans(p.layers, Pass::kBoth, plans, p.npu);
    FAIL() << "the first gradient runs together with the last Y";
  } catch (const CompilerDefect &defect) {
    EXPECT_NE(std::string(defect.what()).find("computes Y of layer 'second' after a gradient"), std::string::npos)
        << defect.what();
  }
}

/// A producer and a consumer that cut their tensor differently meet in memory.
TEST(Step, DifferentCutsMeetInMemory) {
  Machine npu = load_config("test8");
  npu.spm_bytes *= 16; // no row is used twice: only memory is waited for
  std::vector<Layer> layers{make_layer(32, 8, 32, false), make_layer(32, 32, 8)};
  layers[0].name = "first";
  layers[1].name = "second";
  layers[1].input = "first";
  const RowRange all{0, npu.spm_rows()};
  const auto plan = [&](std::uint32_t layer, TileShape tile) {
    PhasePlan p;
    p.kind = PhaseKind::kForward;
    p.layer = layer;
    p.tile = tile;
    p.loops = {Dim::kM, Dim::kN, Dim::kK};
    p.split = {all, all, all};
    p.window = 100;
    p.products = plan_products(p, layers[layer], npu);
    return p;
  };
  const std::vector<PhasePlan> plans{plan(0, {16, 8, 16}), plan(1, {8, 12, 8})};
  const Compiled step = compile_plans(layers, Pass::kForward, plans, npu);
  expect_golden(step, npu, 4);

  // Without the waits for its STOREs the consumer could read what is not there yet.
  std::size_t found = 0;
  for (std::size_t i = 0; i < step.stream.size(); ++i) {
    isa::Decoded d = *isa::decode(step.stream[i]);
    if (step.info[i].tensor != Tensor::kY || d.engine() != 0) continue;
    Compiled broken = step;
    d.sync.waits = {};
    broken.stream[i] = isa::encode(d);
    const std::string problem = verify_stream(broken, npu);
    found += problem.find("without waiting for its STORE") != std::string::npos;
  }
  EXPECT_GT(found, 0U);
}

} // namespace
} // namespace gradweave::compiler
