// Jobs as commands on the RTL: every bit of golden execution, and all cycles and counters of the timing model.
#include "tests/compiler/vector_stream/op_group.hpp"
#include "tests/cosim/section_on_rtl.hpp"

#include <set>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

class JobsOnRtl : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(JobsOnRtl, Gelu) {
  OpGroup g(npu_);
  g.add("Gelu", {g.input("x", ElementType::kBf16, {40, 97})}, ElementType::kBf16, "y");
  g.check(run_rtl);
}

TEST_P(JobsOnRtl, BiasAndRelu) {
  OpGroup g(npu_);
  const TensorId x = g.input("x", ElementType::kFp32, {200, 3}), b = g.input("b", ElementType::kFp32, {3});
  g.add("Relu", {g.add("Bias", {x, b}, ElementType::kBf16, "sum")}, ElementType::kBf16, "y");
  g.check(run_rtl);
}

TEST_P(JobsOnRtl, AdamW) {
  OpGroup g(npu_);
  const auto given = add_adamw(g, {23, 31});
  g.check(run_rtl, given);
}

TEST_P(JobsOnRtl, AResidualAndItsNorm) {
  OpGroup g(npu_);
  add_residual_norm(g, 30, 12);
  g.check(run_rtl);
}

/// Of each operator of the networks' steps one op of moderate size.
TEST_P(JobsOnRtl, AnOpOfEachOperator) {
  constexpr std::size_t kMost = 8000;
  const std::vector<NetworkStep> steps = network_steps();
  std::set<std::string_view> seen;
  for (const StepOp &op : distinct_ops(steps)) {
    if (!has_jobs(*op.op->type) || seen.count(op.op->type->name) != 0) continue;
    Dice dice(kGroupSeed);
    const OpData data = random_data(op.step->graph, *op.op, Values::kSpecial, dice);
    const OpJobs jobs = lowered(op.step->graph, *op.op, data);
    std::size_t elements = 0;
    for (const JobValue &value : jobs.values)
      elements += value.elements;
    if (elements > kMost || elements < kMost / 100) continue;
    seen.insert(op.op->type->name);
    const auto stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu_);
    EXPECT_EQ(section_difference(npu_, op, data, jobs, stream, run_rtl), "")
        << op.step->name << ", " << op.op->type->name << " " << op.op->name << ", seed " << kGroupSeed;
  }
  EXPECT_GT(seen.size(), 20U);
}

/// Masks over rows of any length, one row and several, and what is left of the last one.
TEST_P(JobsOnRtl, Dropout) {
  const std::vector<NetworkStep> steps = network_steps();
  std::size_t compared = 0;
  for (const StepOp &op : distinct_ops(steps)) {
    if (op.op->type->name != "Dropout") continue;
    Dice dice(kGroupSeed);
    const OpData data = random_data(op.step->graph, *op.op, Values::kSpecial, dice);
    const OpJobs jobs = lowered(op.step->graph, *op.op, data);
    const auto stream = job_commands(jobs, SectionPlaces(jobs).addresses, npu_);
    EXPECT_EQ(section_difference(npu_, op, data, jobs, stream, run_rtl), "") << op.op->name << ", seed " << kGroupSeed;
    ++compared;
  }
  EXPECT_GT(compared, 5U);
}

INSTANTIATE_TEST_SUITE_P(Npus, JobsOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

} // namespace
} // namespace gradweave::compiler
