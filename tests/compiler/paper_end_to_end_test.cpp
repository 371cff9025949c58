// The paper's schedules on the functional model: every bit is golden under every policy, whatever is kept or spilled.
#include "tests/compiler/layer_run.hpp"
#include "tests/compiler/paper_run.hpp"

namespace gradweave::compiler::paper {
namespace {

Machine with_cores(const std::string &name, std::uint32_t cores) {
  Machine npu = load_config(name);
  npu.cores = cores;
  npu.semaphores = 128;
  npu.spm_bytes *= cores;
  npu.spm_banks *= cores;
  return npu;
}

void expect_golden(const Layer &layer, const Machine &npu, PaperOptions options, std::uint64_t seed,
                   const std::vector<Schedule> &schedules = all_schedules()) {
  const LayerOperands operands = make_operands(layer, seed, seed % 2 == 1);
  for (const Schedule schedule : schedules) {
    options.schedule = schedule;
    SCOPED_TRACE(fmt::format("{} x{} {} groups {} dx={} {} {} {} {} x{} {} seed {}", npu.name, npu.cores, layer.name,
                             layer.groups, layer.dx, to_string(schedule), to_string(options.pass),
                             to_string(options.policy), to_string(options.cut.partition), options.cut.parts,
                             to_string(options.cut.reduction), seed));
    const Compiled compiled = compile_paper_layer(layer, npu, options);
    const auto golden = golden_results(layer, options.pass, operands, compiled.reductions.front());
    const auto results = functional_results(compiled, npu, operands);
    ASSERT_EQ(results.size(), golden.size());
    for (const auto &[tensor, bits] : golden)
      EXPECT_TRUE(results.at(tensor) == bits) << to_string(tensor);
  }
}

class EveryNpu : public testing::TestWithParam<std::string> {};

/// Each policy meets other shapes, schedules, passes and cuts.
TEST_P(EveryNpu, RandomShapesAreGoldenUnderEveryPolicy) {
  const Machine npu = load_config(GetParam());
  const std::uint32_t most = npu.lanes() * 7;
  std::uint64_t seed = 0;
  for (const Policy &policy : all_policies()) {
    std::mt19937_64 rng(++seed);
    const auto side = [&] { return static_cast<std::uint32_t>(1 + rng() % (rng() % 4 == 0 ? most : most / 3)); };
    Layer layer = make_layer(side(), side(), side(), rng() % 4 != 0);
    if (rng() % 4 == 0) layer.groups = static_cast<std::uint32_t>(1 + rng() % 5);
    PaperOptions options;
    options.policy = policy;
    options.pass = static_cast<Pass>(rng() % 3);
    options.cut.partition = all_partitions()[rng() % 4];
    options.cut.parts = static_cast<std::uint32_t>(1 + rng() % 4);
    options.cut.reduction = static_cast<Reduction>(rng() % 2);
    expect_golden(layer, npu, options, seed, {all_schedules()[rng() % 6], all_schedules()[rng() % 6]});
  }
}

TEST_P(EveryNpu, ExtremeShapesAreGolden) {
  const Machine npu = load_config(GetParam());
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

TEST(SeveralCores, EveryPartitionAndReductionIsGolden) {
  std::mt19937_64 rng(1);
  for (const std::uint32_t cores : {2U, 3U, 8U})
    for (const Partition partition : all_partitions())
      for (const Reduction reduction : {Reduction::kChain, Reduction::kAdd})
        for (const std::uint32_t parts : {cores, 2 * cores + 1}) {
          PaperOptions options;
          options.policy = all_policies()[rng() % all_policies().size()];
          options.pass = Pass::kBoth;
          options.cut = {partition, parts, reduction};
          const auto side = [&] { return static_cast<std::uint32_t>(17 + rng() % 60); };
          expect_golden(make_layer(side(), side(), side()), with_cores(cores == 3 ? "test6x10" : "test8", cores),
                        options, rng());
        }
}

/// The smallest scratchpad that the paper's scheme can use at all.
TEST(TinyScratchpad, SpillsAndStaysGolden) {
  Machine npu = load_config("test8");
  npu.spm_banks = 1;
  npu.spm_bytes = 2048;
  PaperOptions options;
  options.schedule = Schedule::kDxMajor;
  const Layer layer = make_layer(40, 56, 72);
  expect_golden(layer, npu, options, 1);
  const Compiled compiled = compile_paper_layer(layer, npu, options);
  EXPECT_GT(compiled.traffic.front()[static_cast<std::size_t>(Tensor::kDW)].spill_read_bytes, 0U);
  EXPECT_GT(compiled.traffic.front()[static_cast<std::size_t>(Tensor::kDW)].spill_write_bytes, 0U);
}

} // namespace
} // namespace gradweave::compiler::paper
