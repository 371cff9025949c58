// Keys hold all that a result depends on; techniques ask for the units that they are made of.
#include "app/evaluation/study/workload.hpp"
#include "app/evaluation/unit/evaluate.hpp"
#include "app/evaluation/unit/unit_key.hpp"
#include "runtime/run/lookup.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

using namespace gradweave;
using namespace gradweave::evaluation;
using compiler::Partition;
using compiler::Schedule;

namespace {

Unit example_unit() {
  Unit unit;
  unit.layer.name = "fc";
  unit.layer.m = 24;
  unit.layer.k = 40;
  unit.layer.n = 20;
  unit.npu = load_machine(runtime::find_npu("test8"));
  unit.variant.plans = 300;
  return unit;
}

/// Answers with chosen cycles, and remembers what it was asked for.
class Answers : public Evaluations {
public:
  explicit Answers(std::function<std::uint64_t(const Unit &)> cycles) : cycles_(std::move(cycles)) {}
  UnitResult get(const Unit &unit) override {
    asked.push_back(unit);
    UnitResult result;
    result.cycles = cycles_(unit);
    if (result.cycles == 0) result.problem = "none";
    return result;
  }
  StepResult get(const StepUnit &) override { throw std::logic_error("techniques of layers search no step"); }
  std::string get(const Work &) override { throw std::logic_error("techniques of layers are made of units"); }
  std::vector<Unit> asked;

private:
  std::function<std::uint64_t(const Unit &)> cycles_;
};

} // namespace

TEST(UnitKey, DependsOnShapeNpuVariantPassAndTool) {
  std::set<std::string> keys{key_of(example_unit(), "1")};
  const auto differs = [&](const char *what, const std::function<void(Unit &)> &change) {
    Unit unit = example_unit();
    change(unit);
    EXPECT_TRUE(keys.insert(key_of(unit, "1")).second) << what;
  };
  differs("m", [](Unit &u) { u.layer.m = 25; });
  differs("k", [](Unit &u) { u.layer.k = 25; });
  differs("n", [](Unit &u) { u.layer.n = 25; });
  differs("groups", [](Unit &u) { u.layer.groups = 2; });
  differs("dx", [](Unit &u) { u.layer.dx = false; });
  differs("bandwidth", [](Unit &u) { u.npu.memory.bytes_num *= 2; });
  differs("cores", [](Unit &u) { u.npu.cores = 2; });
  differs("scratchpad", [](Unit &u) { u.npu.spm_bytes *= 2; });
  differs("pass", [](Unit &u) { u.pass = compiler::Pass::kForward; });
  differs("policy", [](Unit &u) { u.variant.policy = "array"; });
  differs("schedule", [](Unit &u) { u.variant.schedule = Schedule::kDxMajor; });
  differs("dY once", [](Unit &u) { u.variant.dy_once = true; });
  differs("partition", [](Unit &u) { u.variant.partition = Partition::kDySharing; });
  differs("parts", [](Unit &u) {
    u.variant.partition = Partition::kDySharing;
    u.variant.parts = 2;
  });
  differs("plans", [](Unit &u) { u.variant.plans = 7; });
  EXPECT_TRUE(keys.insert(key_of(example_unit(), "2")).second) << "tool";
  Unit named = example_unit();
  named.layer.name = "other";
  named.layer.index = 7;
  EXPECT_EQ(key_of(named, "1"), key_of(example_unit(), "1"));
}

TEST(Evaluate, GivesTheCyclesOfTheCompiled) {
  const Unit unit = example_unit();
  const UnitResult result = evaluate(unit);
  compiler::CompileOptions options;
  options.schedule = Schedule::kSequential;
  options.plans = 300;
  EXPECT_EQ(result.cycles, compiler::compile({unit.layer}, unit.npu, options).predicted_cycles);
  EXPECT_GE(result.of(compiler::Tensor::kDY).read, 2ULL * 24 * 20);
  EXPECT_EQ(result.problem, "");
}

TEST(Evaluate, ALayerThatCannotBeCompiledIsAProblem) {
  Unit unit = example_unit();
  unit.npu.memory.size_bytes = 4096;
  EXPECT_NE(evaluate(unit).problem.find("fc"), std::string::npos);
}

TEST(Evaluate, ReadingDyOnceIsFasterAndReadsLess) {
  Unit unit = example_unit();
  unit.layer.m = unit.layer.k = unit.layer.n = 128;
  const UnitResult twice = evaluate(unit);
  unit.variant.dy_once = true;
  const UnitResult once = evaluate(unit);
  compiler::CompileCache cache; // one search for both
  Unit plain = unit;
  plain.variant.dy_once = false;
  EXPECT_EQ(to_text(evaluate(plain, cache)), to_text(twice));
  EXPECT_EQ(to_text(evaluate(unit, cache)), to_text(once));
  const std::uint64_t dy = 2ULL * 128 * 128;
  ASSERT_GT(twice.of(compiler::Tensor::kDY).read, dy) << "nothing to leave out";
  EXPECT_LT(once.cycles, twice.cycles);
  EXPECT_LT(once.of(compiler::Tensor::kDY).read, twice.of(compiler::Tensor::kDY).read);
  EXPECT_GE(once.of(compiler::Tensor::kDY).read, dy);
  EXPECT_EQ(once.of(compiler::Tensor::kX).read, twice.of(compiler::Tensor::kX).read);
}

TEST(Costs, TechniquesOfOneCore) {
  Answers answers([](const Unit &u) -> std::uint64_t {
    if (u.pass == compiler::Pass::kForward) return 1000;
    if (u.variant.partition != Partition::kNone) return u.variant.partition == Partition::kDySharing ? 30 : 60;
    if (u.variant.schedule == Schedule::kSequential) return u.variant.dy_once ? 90 : 100;
    if (u.variant.schedule == Schedule::kInterleave) return 80;
    return u.variant.schedule == Schedule::kDxMajor ? 50 : 40;
  });
  const Unit unit = example_unit();
  const Costs costs(answers, unit.npu, "p", {2, 4}, 1);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kBaseline), 1100);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kDyOnce), 1090);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kInterleave), 1080);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kRearrange), 1080) << "almost square";
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kIdeal), 1040);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kPartition), 1030);
  for (const Unit &asked : answers.asked) {
    EXPECT_EQ(asked.variant.policy, "p");
    EXPECT_NE(asked.variant.schedule, Schedule::kIdeal);
  }
}

TEST(Costs, SeveralCoresShareTheBatchUnlessPartitioned) {
  Answers answers(
      [](const Unit &u) -> std::uint64_t { return u.variant.partition == Partition::kIfmapSharing ? 5 : 9; });
  Unit unit = example_unit();
  unit.npu.cores = 4;
  const Costs costs(answers, unit.npu, "p", {}, 1);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kBaseline), 18);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kPartition), 14);
  for (const Unit &asked : answers.asked)
    EXPECT_EQ(asked.variant.parts, 4U);
  EXPECT_EQ(answers.asked.front().variant.partition, Partition::kWeightSharing);
}

TEST(Costs, LayersWithoutDxTakePartInNoTechnique) {
  Answers answers([](const Unit &) -> std::uint64_t { return 7; });
  Unit unit = example_unit();
  unit.layer.dx = false;
  const Costs costs(answers, unit.npu, "p", {2}, 1);
  for (const Technique technique : {Technique::kBaseline, Technique::kDyOnce, Technique::kInterleave,
                                    Technique::kRearrange, Technique::kIdeal, Technique::kPartition})
    costs.backward(unit.layer, technique);
  for (const Unit &asked : answers.asked)
    EXPECT_EQ(key_of(asked, ""), key_of(answers.asked.front(), ""));
}

TEST(Costs, AProblemLeavesTheNetworkWithoutATime) {
  Answers answers([](const Unit &u) -> std::uint64_t { return u.variant.schedule == Schedule::kDwMajor ? 0 : 7; });
  const Unit unit = example_unit();
  const Costs costs(answers, unit.npu, "p", {2}, 1);
  EXPECT_EQ(costs.cycles(unit.layer, Technique::kBaseline), 14);
  EXPECT_NE(costs.cycles(unit.layer, Technique::kIdeal), costs.cycles(unit.layer, Technique::kIdeal)); // NaN
}
