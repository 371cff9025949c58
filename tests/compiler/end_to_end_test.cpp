// Compiled layers on the functional model: every bit equals the golden model's, under every schedule.
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/layer_run.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

void expect_golden(const Layer &layer, const Machine &npu, Pass pass, std::uint64_t seed) {
  const bool special = seed % 2 == 1;
  const LayerOperands operands = make_operands(layer, seed, special);
  const auto golden = golden_results(layer, pass, operands);
  for (const Schedule schedule : all_schedules()) {
    SCOPED_TRACE(fmt::format("{} {} dx={} {} {} seed {}", npu.name, layer.name, layer.dx, to_string(schedule),
                             to_string(pass), seed));
    CompileOptions options{schedule, pass};
    options.plans = 60;
    const Compiled compiled = compile_known(layer, npu, options);
    const auto results = functional_results(compiled, npu, operands);
    ASSERT_EQ(results.size(), golden.size());
    for (const auto &[tensor, bits] : golden)
      EXPECT_TRUE(results.at(tensor) == bits) << to_string(tensor);
  }
}

class EveryNpu : public testing::TestWithParam<std::string> {};

TEST_P(EveryNpu, RandomShapesAreGolden) {
  const Machine npu = load_config(GetParam());
  const std::uint32_t most = npu.lanes() > 16 ? 150 : 70;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    std::mt19937_64 rng(seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? 3 * most : most)); };
    const Layer layer = make_layer(side(), side(), side(), rng() % 4 != 0);
    expect_golden(layer, npu, static_cast<Pass>(rng() % 3), seed);
  }
}

/// Y and dX that leave as the sums they are.
TEST_P(EveryNpu, SumsInFp32AreGolden) {
  const Machine npu = load_config(GetParam());
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    std::mt19937_64 rng(seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? 200 : 60)); };
    Layer layer = make_layer(side(), side(), side());
    layer.groups = seed % 3 == 0 ? 3 : 1;
    layer.y_fp32 = seed % 3 != 1;
    layer.dx_fp32 = seed % 3 != 2;
    expect_golden(layer, npu, Pass::kBoth, seed);
  }
}

TEST_P(EveryNpu, ExtremeShapesAreGolden) {
  const Machine npu = load_config(GetParam());
  std::uint64_t seed = 0;
  for (const auto &[m, k, n] : std::vector<std::array<std::uint32_t, 3>>{{1, 1, 1},
                                                                         {1, 1, 97},
                                                                         {1, 97, 1},
                                                                         {97, 1, 1},
                                                                         {1, 401, 3},
                                                                         {401, 1, 3},
                                                                         {3, 1, 401},
                                                                         {53, 59, 61},
                                                                         {2, 2, 512}})
    for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kBoth})
      expect_golden(make_layer(m, k, n), npu, pass, ++seed);
}

INSTANTIATE_TEST_SUITE_P(Configs, EveryNpu, testing::Values("test8", "test6x10", "test16", "small", "large"),
                         [](const auto &param_info) { return param_info.param; });

std::uint64_t spilled(const Compiled &c) {
  std::uint64_t bytes = 0;
  for (const Traffic &t : c.traffic.front())
    bytes += t.spill_read_bytes + t.spill_write_bytes;
  return bytes;
}

TEST(TinyScratchpad, SpillsAndStaysGolden) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 2048;
  npu.spm_banks = 1;
  const Layer layer = make_layer(40, 56, 72);
  expect_golden(layer, npu, Pass::kBackward, 1);
  EXPECT_GT(spilled(compile_known(layer, npu, {Schedule::kDxMajor, Pass::kBackward})), 0U);
}

TEST(TinyScratchpad, SpillsSumsThatLeaveAsTheyAre) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 2048;
  npu.spm_banks = 1;
  Layer layer = make_layer(40, 56, 72);
  layer.y_fp32 = layer.dx_fp32 = true;
  expect_golden(layer, npu, Pass::kBoth, 1);
  EXPECT_GT(spilled(compile_known(layer, npu, {Schedule::kDxMajor, Pass::kBackward})), 0U);
}

TEST(TinyScratchpad, SmallestThatHoldsSingleElements) {
  Machine npu = load_config("test8");
  npu.spm_banks = 1;
  std::uint64_t fits_from = 0;
  for (std::uint32_t rows = 2; rows <= 16; rows += 2) {
    npu.spm_bytes = std::uint64_t{rows} * 2 * npu.lanes();
    try {
      expect_golden(make_layer(3, 4, 5), npu, Pass::kBackward, 2);
      fits_from = fits_from == 0 ? rows : fits_from;
    } catch (const CompileError &e) {
      EXPECT_EQ(fits_from, 0U) << "fits " << fits_from << " rows but not " << rows;
      EXPECT_NE(std::string(e.what()).find("spm_bytes"), std::string::npos) << e.what();
    }
  }
  EXPECT_EQ(fits_from,
            6U); // two operands and a result, two rows each: a tile as long as the reduction needs no partial sum
}

TEST(Network, EveryLayerOfTheExamplesCompilesForEveryNpu) {
  for (const char *file : {"models/mlp.graph", "models/gemms.csv"})
    for (const char *config : {"test16", "small", "large"})
      for (const Layer &layer : load_network(file).layers)
        for (const Schedule schedule : all_schedules())
          EXPECT_NO_THROW(compile_known(layer, load_config(config), {schedule, Pass::kBoth})) << layer.name;
}

TEST(Network, BertTinyIsGoldenOnSmall) {
  const Machine npu = load_config("small");
  const Network network = load_network("models/bert_tiny.graph");
  ASSERT_EQ(network.layers.size(), 25U);
  for (const char *name : {"encoder0.query", "encoder0.ffn_up", "pooler"})
    expect_golden(select_layers(network, name).at(0), npu, Pass::kBackward, 3);
}

} // namespace
} // namespace gradweave::compiler
