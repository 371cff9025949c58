// What searches minimise.
#include "compiler/search/judge.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/compiler.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/search/layer_search.hpp"
#include "sw_models/energy/energy.hpp"
#include "tests/compiler/layer_run.hpp"

#include <cmath>

namespace gradweave::compiler {
namespace {

CompileOptions options_for(Objective objective) {
  CompileOptions options{Schedule::kSearch, Pass::kBackward};
  options.plans = 60;
  options.objective = objective;
  return options;
}

double energy_in(const Compiled &compiled, const Machine &npu) {
  return energy_of(compiled.accesses, compiled.predicted_cycles, npu).total();
}

/// Memory as fast as can be, and dear: what is fastest is not what takes the least energy.
Machine dear_memory() {
  Machine npu = load_machine("configs/test8.toml", {{"memory", "bandwidth_gb_s", "1000", ""}});
  npu.energy.dram_pj_per_byte = 5000;
  return npu;
}

TEST(Judge, CostsAreCyclesEnergyAndTheirProduct) {
  const Machine npu = load_config("test8");
  AccessCounts counts;
  counts.macs = 1000;
  EXPECT_EQ(Judge(npu).cost_of(counts, 70), 70U);
  EXPECT_EQ(Judge(npu, Objective::kEnergy).cost_of(counts, 70), 2000U);
  EXPECT_EQ(Judge(npu, Objective::kEdp).cost_of(counts, 70), 140U); // nJ cycles
  EXPECT_EQ(unit_of(Objective::kEdp), "nJ cycles");
  for (const Objective o : {Objective::kCycles, Objective::kEnergy, Objective::kEdp})
    EXPECT_EQ(parse_objective(to_string(o)), o);
  EXPECT_THROW(parse_objective("power"), std::invalid_argument);
}

/// A limit never changes the verdict on what is below it, and bounds are none above.
TEST(Judge, LimitsAndBoundsAreSafe) {
  for (const double static_mw : {0.0, 300.0})
    for (const Layer &layer : {make_layer(17, 33, 29), make_layer(64, 24, 40)})
      for (const Objective objective : {Objective::kCycles, Objective::kEnergy, Objective::kEdp}) {
        Machine npu = load_config("test8");
        npu.energy.static_mw = static_mw;
        KnownPlans known;
        CompileOptions options = options_for(Objective::kCycles);
        options.schedule = Schedule::kSequential;
        const auto found = search_layer(layer, npu, options, known);
        std::vector<PhasePlan> plans = found->plans;
        const Layout layout = make_layout({layer}, options.pass, npu);
        for (PhasePlan &p : plans)
          p.products = plan_products(p, layer, npu);
        const std::optional<Program> program = allocate(plans, {layer}, layout, npu);
        ASSERT_TRUE(program);
        const Judge judge(npu, objective);
        const Judged free = judge.judge(*program);
        EXPECT_EQ(free.cycles, found->cycles);
        EXPECT_EQ(free.cost, judge.cost_of(*program, free.cycles));
        EXPECT_EQ(judge.judge(*program, free.cost + 1).cost, free.cost);
        for (const std::uint64_t limit : {free.cost, free.cost / 2, free.cost / 10})
          EXPECT_GE(judge.judge(*program, limit).cost, limit) << to_string(objective) << ' ' << limit;
        EXPECT_LE(judge.bound(*program), free.cost);
        EXPECT_LE(judge.least_of_cycles(free.cycles), free.cost);
        EXPECT_TRUE(allocate(plans, {layer}, layout, npu, judge.traffic_limit(free.cost + 1))) << to_string(objective);
      }
}

/// By its objective a search is no worse than the search by another, and not by accident: plans differ.
TEST(Objective, IsWhatASearchMinimises) {
  const Machine npu = dear_memory();
  double by_cycles_energy = 0, by_energy_energy = 0;
  std::uint64_t by_cycles_cycles = 0, by_energy_cycles = 0;
  for (const Layer &layer : {make_layer(48, 64, 56), make_layer(100, 100, 100), make_layer(17, 90, 70)}) {
    const Compiled cycles = compile_known(layer, npu, options_for(Objective::kCycles));
    const Compiled energy = compile_known(layer, npu, options_for(Objective::kEnergy));
    EXPECT_LE(energy_in(energy, npu), energy_in(cycles, npu)) << layer.name;
    by_cycles_energy += energy_in(cycles, npu);
    by_energy_energy += energy_in(energy, npu);
    by_cycles_cycles += cycles.predicted_cycles;
    by_energy_cycles += energy.predicted_cycles;
  }
  EXPECT_LT(by_energy_energy, by_cycles_energy);
  EXPECT_GT(by_energy_cycles, by_cycles_cycles) << "no free lunch";
}

/// Within one order too, where there is nothing to choose but plans.
TEST(Objective, IsWhatChangesOfPlansAreJudgedBy) {
  const Machine npu = dear_memory();
  std::uint64_t fast = 0, frugal = 0;
  for (const Layer &layer : {make_layer(48, 64, 56), make_layer(100, 100, 100), make_layer(17, 90, 70)})
    for (const Objective objective : {Objective::kCycles, Objective::kEnergy}) {
      CompileOptions options = options_for(objective);
      options.schedule = Schedule::kSequential;
      KnownPlans known;
      const auto found = search_layer(layer, npu, options, known);
      const Compiled compiled = compile_plans({layer}, options.pass, found->plans, npu);
      (objective == Objective::kCycles ? fast : frugal) +=
          Judge(npu, Objective::kEnergy).cost_of(compiled.accesses, compiled.predicted_cycles);
    }
  EXPECT_LT(frugal, fast);
}

TEST(Objective, PlansOfAnotherObjectiveOrOtherEnergiesAreOthers) {
  const Layer layer = make_layer(48, 64, 56);
  Machine npu = dear_memory();
  KnownPlans known;
  CompileOptions options = options_for(Objective::kEnergy);
  options.schedule = Schedule::kSequential;
  const auto dear = search_layer(layer, npu, options, known);
  EXPECT_EQ(search_layer(layer, npu, options, known), dear) << "known by now";
  npu.energy.dram_pj_per_byte = 0;
  EXPECT_NE(search_layer(layer, npu, options, known), dear);
  options.objective = Objective::kCycles;
  const auto fast = search_layer(layer, npu, options, known);
  npu.energy.dram_pj_per_byte = 1;
  EXPECT_EQ(search_layer(layer, npu, options, known), fast) << "cycles do not depend on energies";
}

TEST(Objective, IsWhatTheSearchOfAStepMinimises) {
  const Machine npu = dear_memory();
  const std::vector<Layer> layers{make_layer(20, 30, 40, false), make_layer(20, 40, 25)};
  StepOptions options;
  options.layer_plans = 20;
  options.step_plans = 40;
  const SearchedStep cycles = search_step(layers, npu, options);
  options.objective = Objective::kEnergy;
  const SearchedStep energy = search_step(layers, npu, options);
  const Compiled fast = compile_plans(layers, options.pass, cycles.plans, npu);
  const Compiled frugal = compile_plans(layers, options.pass, energy.plans, npu);
  EXPECT_EQ(energy.cost, static_cast<std::uint64_t>(std::llround(energy_in(frugal, npu))));
  EXPECT_LT(energy_in(frugal, npu), energy_in(fast, npu));
  EXPECT_LE(energy.cost, energy.first_cost);
}

} // namespace
} // namespace gradweave::compiler
