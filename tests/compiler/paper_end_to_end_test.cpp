// The paper's schedules on the functional model: every bit is golden under every policy, whatever is kept or spilled.
#include "compiler/paper/paper.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler::paper {
namespace {

void expect_golden(const Layer &layer, const NpuConfig &npu, PaperOptions options, std::uint64_t seed) {
  const Operands operands = make_operands(layer, seed, seed % 2 == 1);
  const auto golden = golden_results(layer, options.pass, operands);
  for (const Schedule schedule : all_schedules()) {
    options.schedule = schedule;
    SCOPED_TRACE(fmt::format("{} {} dx={} {} {} {} parts {} seed {}", npu.name, layer.name, layer.dx,
                             to_string(schedule), to_string(options.pass), to_string(options.policy), options.cut.parts,
                             seed));
    const CompiledLayer compiled = compile_paper_layer(layer, npu, options);
    const auto results = functional_results(compiled, npu, operands);
    ASSERT_EQ(results.size(), golden.size());
    for (const auto &[tensor, bits] : golden)
      EXPECT_TRUE(results.at(tensor) == bits) << to_string(tensor);
  }
}

class EveryNpu : public testing::TestWithParam<std::string> {};

/// Each policy meets other shapes, passes and cuts.
TEST_P(EveryNpu, RandomShapesAreGoldenUnderEveryPolicy) {
  const NpuConfig npu = load_config(GetParam());
  const std::uint32_t most = npu.lanes() * 7;
  std::uint64_t seed = 0;
  for (const Policy &policy : all_policies()) {
    std::mt19937_64 rng(++seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? most : most / 3)); };
    const Layer layer = make_layer(side(), side(), side(), rng() % 4 != 0);
    PaperOptions options;
    options.policy = policy;
    options.pass = static_cast<Pass>(rng() % 3);
    options.cut = {all_partitions()[rng() % 4], static_cast<std::uint32_t>(1 + rng() % 4)};
    expect_golden(layer, npu, options, seed);
  }
}

TEST_P(EveryNpu, ExtremeShapesAreGolden) {
  const NpuConfig npu = load_config(GetParam());
  std::uint64_t seed = 0;
  for (const auto &[m, k, n] : std::vector<std::array<std::uint32_t, 3>>{
           {1, 1, 1}, {1, 1, 97}, {1, 97, 1}, {97, 1, 1}, {1, 401, 3}, {401, 1, 3}, {3, 1, 401}, {53, 59, 61}})
    for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kBoth}) {
      PaperOptions options;
      options.pass = pass;
      expect_golden(make_layer(m, k, n), npu, options, ++seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Configs, EveryNpu, testing::Values("test8", "test6x10"),
                         [](const auto &param_info) { return param_info.param; });

} // namespace
} // namespace gradweave::compiler::paper
