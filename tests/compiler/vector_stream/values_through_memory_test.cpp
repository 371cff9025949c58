// Long chains of too many tiles run by values that go through memory, with the same bits; others stay as they are.
#include "compiler/vector_stream/cut/values_through_memory.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "sw_models/config/machine.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

using graph::ElementType;

/// The gradient of normalised rows, between two others.
OpGroup normalisation(const Machine &npu, std::uint32_t rows, std::uint32_t cols) {
  OpGroup g(npu);
  const auto fp32 = [&](const char *name, graph::Shape shape) { return g.input(name, ElementType::kFp32, shape); };
  const graph::TensorId x = fp32("x", {rows, cols}),
                        dy = g.add("Neg", {fp32("d", {rows, cols})}, ElementType::kBf16, "dy");
  const graph::TensorId mean = fp32("mean", {rows}), rstd = fp32("rstd", {rows}), gamma = fp32("gamma", {cols});
  g.add("Abs", {g.add("LayerNormalizationGradient", {dy, x, mean, rstd, gamma}, ElementType::kFp32, "dx")},
        ElementType::kFp32, "z");
  return g;
}

/// Of all inputs, such that no sum of a row is infinite.
std::map<std::string, std::vector<float>> tame_values(std::uint32_t rows, std::uint32_t cols) {
  std::map<std::string, std::vector<float>> all;
  Dice dice(kGroupSeed);
  for (const auto &[name, elements] : std::map<std::string, std::uint32_t>{
           {"x", rows * cols}, {"d", rows * cols}, {"mean", rows}, {"rstd", rows}, {"gamma", cols}})
    for (std::uint32_t i = 0; i < elements; ++i)
      all[name].push_back(static_cast<float>(dice.below(2001)) / 1000.0F - 1.0F);
  return all;
}

TEST(ValuesThroughMemory, GiveTheBitsOfLongRows) {
  const Machine npu = load_machine("configs/test8v2.toml");
  for (const std::uint32_t cols : {384U, 701U}) {
    const OpGroup g = normalisation(npu, 19, cols);
    const OpJobs whole = g.lowered_jobs(), jobs = g.jobs();
    EXPECT_THROW(job_commands(whole, SectionPlaces(whole).addresses, npu), JobCommandsError);
    EXPECT_EQ(jobs.values.size(), whole.values.size() + 2); // dy gamma, and (x - mean) rstd
    g.check(run_functional, tame_values(19, cols));
  }
}

TEST(ValuesThroughMemory, AreNoneWhereRowsFit) {
  const Machine npu = load_machine("configs/test8v2.toml");
  const OpGroup g = normalisation(npu, 19, 24);
  EXPECT_EQ(g.jobs().values.size(), g.lowered_jobs().values.size());
  EXPECT_EQ(g.jobs().steps.size(), g.lowered_jobs().steps.size());
}

} // namespace
} // namespace gradweave::compiler
