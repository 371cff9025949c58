// A tensor that stays for several layers, which take parts of its tiles: an image between a 1 x 1 convolution, another
// one and a 3 x 3 one.
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/cut_layers.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"
#include "tests/support/cases.hpp"

namespace gradweave::compiler {
namespace {

/// As in a fire module of SqueezeNet.
struct Fire : CutLayers {
  Convolution conv;

  explicit Fire(const char *name = "test8", std::uint32_t batch = 1)
      : CutLayers(name), conv(small_convolution(6, 1, batch)) {
    npu.spm_bytes *= 16;
    take({make_layer(conv.m(), 16, 12, false), make_layer(conv.m(), 12, 9), image_layer(conv)});
    layers[1].input = layers[2].input = layers[0].name;
    cut(0, {7, 16, 12});
    cut(1, {11, 12, 9});
    cut(2, {10, 108, 8});
  }
  void cut(std::uint32_t layer, TileShape tile) {
    CutLayers::cut(layer, tile, layer == 2 ? Sharing::kTurns : Sharing::kParts);
  }
  Program program() const { return *allocate(plans, layers, layout(), npu); }
};

/// Bytes of the tensor between them.
std::uint64_t moved(const Compiled &step) {
  const LayerTraffic &first = step.traffic.front();
  const Traffic &y = first[static_cast<std::size_t>(Tensor::kY)];
  return y.read_bytes + y.write_bytes;
}

TEST(TileParts, WhatStaysNeverReachesMemory) {
  Fire fire;
  const Compiled step = fire.compile();
  EXPECT_EQ(moved(step), 0U);
  expect_golden(step, fire.npu, 1);
  for (PhasePlan &plan : fire.plans)
    plan.takes_parts = false;
  EXPECT_GT(moved(fire.compile()), 3U * 2 * 30 * 12) << "stored, and read by each; halos twice";
}

/// Bits do not depend on what is cut how, on several cores, woven or with too little room for all.
TEST(TileParts, AreGolden) {
  std::uint64_t stayed = 0;
  for (std::uint64_t seed = 1; seed <= test::cases(60); ++seed) {
    std::mt19937_64 rng(seed);
    const char *npus[] = {"test8", "test6x10", "test8c2", "test8c4"};
    Fire fire(npus[seed % 4], 1 + rng() % 2);
    const std::uint32_t lines = fire.conv.m();
    if (rng() % 3 == 0) fire.npu.spm_bytes /= 4;
    const auto side = [&](std::uint32_t most) { return static_cast<std::uint32_t>(1 + rng() % most); };
    fire.cut(0, {side(lines), side(16), 12});
    fire.cut(1, {side(lines), 12, side(9)});
    fire.cut(2, {5 * side(6), 108, side(10)});
    fire.plans[1].woven = rng() % 2 == 0;
    fire.plans[2].woven = rng() % 2 == 0;
    fire.plans[1].starts_empty = rng() % 4 == 0;
    fire.plans[2].reach = static_cast<std::uint32_t>(rng() % 2);
    fire.plans[2].takes_parts = rng() % 4 != 0;
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, npus[seed % 4]));
    if (!allocate(fire.plans, fire.layers, fire.layout(), fire.npu)) continue;
    const Compiled step = fire.compile();
    stayed += moved(step) == 0 ? 1 : 0;
    expect_golden(step, fire.npu, seed);
  }
  EXPECT_GT(stayed, test::cases(60) / 6);
}

/// The verifier of programs sees a part that lies elsewhere, is turned, or is not there.
TEST(TileParts, VerifyProgramSeesEachPart) {
  const Fire fire;
  const auto problem = [&](const std::function<void(Program &)> &damage) {
    Program program = fire.program();
    damage(program);
    return verify_program(program, fire.layout(), fire.npu);
  };
  EXPECT_EQ(problem([](Program &) {}), "");
  const auto result = [](Action &a) -> Spot & { return a.place; };
  const auto operand = [](Action &a) -> Spot & { return a.in.a; };
  // Of the first product of a layer whose place is a part, the rows moved, and the form changed.
  const auto with_part = [&](std::uint32_t layer, const std::function<Spot &(Action &)> &place, std::uint32_t rows,
                             const std::function<void(TileForm &)> &change) {
    return problem([&](Program &program) {
      for (Action &a : program.actions) {
        if (a.layer != layer || !a.computes()) continue;
        TileForm form = program.forms[place(a).form];
        if (form.panels == 0 || form.rot == 0) continue;
        change(form);
        place(a) = {place(a).row + rows, program.forms.number_of(form)};
        return;
      }
      throw std::logic_error("no such part");
    });
  };
  const auto keep = [](TileForm &) {};
  const auto turn = [](TileForm &form) { form.rot ^= 1U; };
  EXPECT_EQ(with_part(0, result, 0, keep), "");
  EXPECT_NE(with_part(0, result, 1, keep), "");
  EXPECT_NE(with_part(0, result, 0, turn), "");
  EXPECT_NE(with_part(1, operand, 0, turn), "");
  EXPECT_NE(with_part(1, operand, 1, keep), "");
  EXPECT_NE(with_part(1, operand, 0, [](TileForm &form) { form.pstride += 2; }), "");
  EXPECT_NE(with_part(2, operand, 2, keep), "");
}

/// And that of streams, from commands alone.
TEST(TileParts, VerifyStreamSeesEachPart) {
  const Fire fire;
  const Compiled whole = fire.compile();
  ASSERT_EQ(verify_stream(whole, fire.npu), "");
  std::size_t seen = 0;
  for (std::size_t i = 0; i < whole.stream.size(); ++i) {
    const auto damaged = [&](const std::function<void(isa::Decoded &)> &damage) {
      isa::Decoded d = *isa::decode(whole.stream[i]);
      damage(d);
      Compiled broken = whole;
      broken.stream[i] = isa::encode(d);
      return verify_stream(broken, fire.npu);
    };
    const CommandInfo &info = whole.info[i];
    const isa::Decoded d = *isa::decode(whole.stream[i]);
    const auto *gemm = std::get_if<isa::GemmCommand>(&d.op);
    if (gemm == nullptr || info.tensor != Tensor::kY) continue;
    const auto product = [](isa::Decoded &of) -> isa::GemmCommand & { return std::get<isa::GemmCommand>(of.op); };
    if (info.layer == 0 && gemm->cout.rot != 0) {
      ++seen;
      EXPECT_NE(damaged([&](isa::Decoded &of) { product(of).cout.rot ^= 1U; }), "");
      EXPECT_NE(damaged([&](isa::Decoded &of) { product(of).cout.row += 2; }), "");
    }
    if (info.layer == 1 && gemm->a.rot != 0) {
      ++seen;
      EXPECT_NE(damaged([&](isa::Decoded &of) { product(of).a.rot ^= 1U; }), "");
      EXPECT_NE(damaged([&](isa::Decoded &of) { ++product(of).a.row; }), "");
      EXPECT_NE(damaged([&](isa::Decoded &of) { product(of).a.pstride += 1; }), "");
    }
  }
  EXPECT_GT(seen, 4U);
}

/// Nobody computes the last lines: what is read of them comes from memory, and so does the rest.
TEST(TileParts, TilesOfWhichOnlySomeIsComputedStayApart) {
  Fire fire;
  fire.plans[0].products.pop_back();
  Layout layout = fire.layout();
  const TileWalk walk(fire.plans, fire.layers, layout, fire.npu);
  EXPECT_TRUE(walk.table().parts.empty());
  EXPECT_TRUE(walk.table().stored[static_cast<std::size_t>(layout.place(0, Tensor::kY))]);
}

} // namespace
} // namespace gradweave::compiler
