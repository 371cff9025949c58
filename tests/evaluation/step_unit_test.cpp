// The search of a whole step as a unit; groups that stand for others.
#include "app/evaluation/unit/evaluate.hpp"
#include "app/evaluation/unit/step_unit.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "runtime/run/lookup.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <stdexcept>

using namespace gradweave;
using namespace gradweave::evaluation;

namespace {

StepUnit example_step() {
  StepUnit unit;
  for (const char *name : {"fc1", "fc2"}) {
    compiler::Layer layer;
    layer.name = name;
    layer.m = layer.k = layer.n = 24;
    unit.layers.push_back(layer);
  }
  unit.layers[0].dx = false;
  unit.layers[1].input = "fc1";
  unit.npu = load_machine(runtime::find_npu("test8"));
  unit.effort = {5, 5};
  return unit;
}

} // namespace

TEST(StepUnit, ItsKeyDependsOnLayersTheirTensorsNpuEffortAndTool) {
  std::set<std::string> keys{key_of(example_step(), "1")};
  const auto differs = [&](const char *what, const std::function<void(StepUnit &)> &change) {
    StepUnit unit = example_step();
    change(unit);
    EXPECT_TRUE(keys.insert(key_of(unit, "1")).second) << what;
  };
  differs("layers", [](StepUnit &u) { u.layers.pop_back(); });
  differs("shape", [](StepUnit &u) { u.layers[1].n = 25; });
  differs("input", [](StepUnit &u) { u.layers[1].input.clear(); });
  differs("x_of", [](StepUnit &u) { u.layers[1].x_of = "fc1"; });
  differs("scratchpad", [](StepUnit &u) { u.npu.spm_bytes *= 2; });
  differs("plans", [](StepUnit &u) { u.effort.layer_plans = 7; });
  differs("changes", [](StepUnit &u) { u.effort.step_plans = 7; });
  differs("start", [](StepUnit &u) { u.effort.start = compiler::StepStart::kPlacement; });
  EXPECT_TRUE(keys.insert(key_of(example_step(), "2")).second) << "tool";
  StepUnit named = example_step();
  named.layers[0].name = named.layers[1].input = "other";
  EXPECT_EQ(key_of(named, "1"), key_of(example_step(), "1"));
}

TEST(StepUnit, GivesWhatTheSearchFindsAndSurvivesBeingKept) {
  const StepUnit unit = example_step();
  const StepResult result = evaluate(unit, {});
  ASSERT_EQ(result.problem, "");
  const evaluation::NetworkSearch found =
      evaluation::search_network(unit.layers, unit.npu, compiler::Pass::kBoth, unit.effort);
  EXPECT_EQ(result.step, found.step.predicted_cycles);
  EXPECT_EQ(result.conventional, found.sum(&evaluation::LayerSearch::conventional));
  EXPECT_EQ(result.searched, found.sum(&evaluation::LayerSearch::searched));
  EXPECT_GE(result.step, result.array);
  EXPECT_GE(result.step, result.memory);
  EXPECT_GE(result.array, result.compute_bound);
  EXPECT_GE(result.memory, result.traffic_bound);
  EXPECT_EQ(to_text(step_from_text(to_text(result))), to_text(result));
}

TEST(StepUnit, ANetworkThatCannotBeCompiledIsAProblem) {
  StepUnit unit = example_step();
  unit.npu.spm_bytes = 64;
  const StepResult result = evaluate(unit, {});
  EXPECT_NE(result.problem.find("fc1"), std::string::npos) << result.problem;
  EXPECT_EQ(step_from_text(to_text(result)).problem, result.problem);
}

TEST(StepUnit, OtherTextIsRejected) {
  for (const char *text : {"", "{}", "[]", R"({"bound":1})", R"({"problem":1})"})
    EXPECT_THROW(step_from_text(text), std::invalid_argument) << text;
}

TEST(TimedGroups, AreFewOfManyAndAllOfFew) {
  Unit unit;
  unit.layer.name = "dw";
  unit.layer.m = 64;
  unit.layer.k = 9;
  unit.layer.n = 1;
  unit.npu = load_machine(runtime::find_npu("test8"));
  unit.layer.groups = 1;
  EXPECT_EQ(timed_groups(unit), 1U);
  unit.layer.groups = 100000;
  const std::uint32_t few = timed_groups(unit);
  EXPECT_LT(few, 1000U);
  unit.variant.partition = compiler::Partition::kIfmapSharing;
  unit.variant.parts = 3;
  EXPECT_EQ(timed_groups(unit) % 3, 0U);
  unit.layer.groups = 2 * few;
  unit.variant = {};
  EXPECT_EQ(timed_groups(unit), 2 * few) << "not worth it";
}

void expect_scaled(const Unit &unit) {
  ASSERT_LT(timed_groups(unit), unit.layer.groups);
  const UnitResult result = evaluate(unit);
  const compiler::Compiled whole = compile(unit);
  const auto exact = static_cast<double>(whole.predicted_cycles);
  EXPECT_NEAR(static_cast<double>(result.cycles), exact, 0.02 * exact);
  EXPECT_EQ(result.compute_bound, whole.bounds.compute_cycles);
}

TEST(TimedGroups, CostAlmostWhatAllCost) {
  Unit unit;
  unit.layer.name = "dw";
  unit.layer.m = 512;
  unit.layer.k = 9;
  unit.layer.n = 1;
  unit.layer.groups = 64;
  unit.npu = load_machine(runtime::find_npu("test8"));
  unit.variant.plans = 20;
  expect_scaled(unit);
  unit.npu.cores = 8;
  unit.npu.spm_bytes *= 8;
  unit.npu.spm_banks *= 8;
  unit.npu.semaphores = 128;
  unit.variant.partition = compiler::Partition::kIfmapSharing;
  unit.variant.reduction = compiler::Reduction::kAdd;
  unit.variant.parts = 8;
  unit.layer.m = 4096; // so that a group for each core is enough
  EXPECT_EQ(timed_groups(unit), 8U);
  expect_scaled(unit);
}
