// Plans of searched steps as text: they are the same plans again, and nothing else is taken for one.
#include "app/evaluation/igo/figures.hpp"
#include "app/evaluation/plans/known_step.hpp"
#include "app/evaluation/plans/plan_text.hpp"
#include "app/evaluation/plans/plans_file.hpp"
#include "app/evaluation/unit/step_unit.hpp"
#include "compiler/paper/policy.hpp"
#include "runtime/run/lookup.hpp"
#include "tests/compiler/image_layer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace gradweave;
using namespace gradweave::evaluation;

namespace {

/// Two layers, the second of which reads what the first computes.
StepUnit example(const char *npu = "test8") {
  StepUnit unit;
  unit.npu = load_machine(runtime::find_npu(npu));
  for (const char *name : {"one", "two"}) {
    compiler::Layer layer;
    layer.name = name;
    layer.m = layer.k = layer.n = 24;
    layer.index = static_cast<std::uint32_t>(unit.layers.size());
    unit.layers.push_back(layer);
  }
  unit.layers[0].dx = false;
  unit.layers[1].input = "one";
  unit.effort = {6, 20};
  return unit;
}

std::string plan_again(const std::string &text) {
  bool is_section = false;
  return plan_text(parse_plan(text, is_section));
}

void expect_equal(const StepResult &x, const StepResult &y) {
  EXPECT_EQ(x.problem, "");
  EXPECT_EQ(to_text(x), to_text(y));
}

/// The file of a step.
std::string file_of(const StepResult &result) {
  return plans_file_text({{"0123", {"a step", result.plans}}, {"4567", {"another", result.plans}}});
}

std::string problem_of(const std::string &file) {
  try {
    parse_plans_file(file, "steps.plans");
  } catch (const ConfigError &error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string &what, const std::string &with) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("no " + what);
  return text.replace(at, what.size(), with);
}

} // namespace

TEST(PlanText, SaysEveryDecision) {
  for (const char *text :
       {"y 1x2x3 mkn 0+8,8+8,16+16", "dx 45x65535x9 nkm 1+2,3+4,5+6 window=3 policy=0.1,2.5 reach=2 woven joined",
        "dw_major 8x8x8 knm 0+1,1+1,2+1 cut=n,3,1,chain,parts parts empty", "interleave 8x8x8 kmn 0+1,1+1,2+1 window=7",
        "dx_major 8x8x8 mnk 0+1,1+1,2+1 cut=m,4,4,add,turns"})
    EXPECT_EQ(plan_again(text), text);
}

TEST(PlanText, RefusesWhatIsNoPlan) {
  for (const char *text :
       {"", "y", "z 1x2x3 mkn 0+8,8+8,16+16", "y 1x2 mkn 0+8,8+8,16+16", "y 0x2x3 mkn 0+8,8+8,16+16",
        "y 65536x2x3 mkn 0+8,8+8,16+16", "y 1x2x3 mmn 0+8,8+8,16+16", "y 1x2x3 mk 0+8,8+8,16+16", "y 1x2x3 mkn 0+8,8+8",
        "y 1x2x3 mkn 0+8,8+8,16", "y 1x2x3 mkn 0+8,8+8,-1+16", "y 1x2x3 mkn 0+8,8+8,16+16 window=0",
        "y 1x2x3 mkn 0+8,8+8,16+16 policy=nan,1", "y 1x2x3 mkn 0+8,8+8,16+16 policy=-1,1",
        "y 1x2x3 mkn 0+8,8+8,16+16 fast", "y 1x2x3 mkn 0+8,8+8,16+16 depth=1",
        "y 1x2x3 mkn 0+8,8+8,16+16 cut=m,0,0,chain,parts", "y 1x2x3 mkn 0+8,8+8,99999999999+16"})
    EXPECT_THROW(plan_again(text), std::invalid_argument) << text;
}

TEST(KnownStep, GivesWhatItsSearchFound) {
  StepUnit unit = example();
  const StepResult searched = evaluate(unit, {});
  EXPECT_EQ(effort_of(searched.plans).step_plans, 20U);
  const std::string key = key_of(unit, "1");
  unit.plans = searched.plans;
  EXPECT_NE(key_of(unit, "1"), key);
  expect_equal(evaluate(unit, {}), searched);
}

TEST(KnownStep, HasSectionsOfTheVectorUnit) {
  StepUnit unit = example("test8v2");
  Convolution conv;
  conv.height = conv.width = 6;
  conv.channels = conv.out_channels = conv.groups = 12;
  conv.kernel_height = conv.kernel_width = 2;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  compiler::Layer depthwise = compiler::image_layer(conv);
  depthwise.name = "dw";
  depthwise.vector = depthwise.image = true;
  unit.layers.insert(unit.layers.begin() + 1, depthwise);
  const StepResult searched = evaluate(unit, {});
  ASSERT_EQ(searched.problem, "");
  EXPECT_NE(searched.plans.find("plan y unit"), std::string::npos) << searched.plans;
  unit.plans = searched.plans;
  expect_equal(evaluate(unit, {}), searched);
}

TEST(KnownStep, PlansThatAreNoneOfTheStepAreAProblem) {
  StepUnit unit = example();
  const std::string plans = evaluate(unit, {}).plans;
  const auto refused = [&](const std::string &text, const std::string &problem) {
    unit.plans = text;
    const StepResult result = evaluate(unit, {});
    EXPECT_NE(result.problem.find(problem), std::string::npos) << result.problem;
    EXPECT_NE(result.problem.find("--search"), std::string::npos) << result.problem;
  };
  const auto number =
      std::count(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(plans.find("run ")), '\n') + 1;
  refused(replaced(plans, "run ", "run 7:0 "), "line " + std::to_string(number) + " of the step: there is no layer 7");
  refused("alone\n" + plans, "line 1 of the step: 'alone'");
  refused(replaced(plans, "run ", "run 0:99 "), "there is no plan 99");
  refused(replaced(plans, "run ", "run 0 "), "no layer with a plan");
  refused(replaced(plans, "run ", "walk "), "begins no line");
  refused(replaced(plans, "work ", "work 1 "), "no work");
  refused(replaced(plans, "own 1 ", "own 0 "), "is computed");
  const std::size_t own = plans.find("own 1 ");
  refused(std::string(plans).erase(own, plans.find('\n', own) + 1 - own), "no plans of its own");
  refused(replaced(plans, "plan y ", "plan dw "), "is computed");
  const std::size_t first = plans.find("plan y ");
  const std::string line = plans.substr(first, plans.find('\n', first) - first);
  refused(replaced(plans, line, "plan y 8x8x8 mkn 0+8,8+8,99999+1"), "area 99999+1 is not in the scratchpad");
  refused(replaced(plans, line, "plan y 8x8x8 mkn 0+8,8+8,16+8 cut=m,25,1,chain,parts"), "is no plan of it");
  refused(replaced(plans, "reuse", "luck"), "no effort");
  unit.layers.pop_back();
  refused(plans, "there is no layer 1");
}

TEST(PlansFile, IsReadAsItWasWritten) {
  const StepResult result = evaluate(example(), {});
  const KnownSteps steps = parse_plans_file("# for people\n" + file_of(result), "steps.plans");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps.at("0123").name, "a step");
  EXPECT_EQ(steps.at("4567").text, result.plans);
  const auto lines = std::count(result.plans.begin(), result.plans.end(), '\n');
  EXPECT_EQ(steps.at("0123").place, "steps.plans:5");
  EXPECT_EQ(steps.at("4567").place, "steps.plans:" + std::to_string(5 + lines + 3)); // behind `end`, nothing and `step`
}

TEST(PlansFile, NamesTheLineOfWhatIsDamaged) {
  const std::string file = file_of(evaluate(example(), {}));
  const auto refused = [&](const std::string &text, const std::string &problem) {
    const std::string said = problem_of(text);
    EXPECT_EQ(said.rfind("steps.plans:", 0), 0U) << said;
    EXPECT_NE(said.find(problem), std::string::npos) << said;
  };
  EXPECT_EQ(problem_of(file), "");
  refused(replaced(file, "window=", "window=1"), "not as they were written");
  refused(replaced(file, "a step", "a stop"), "not as they were written");
  refused(file.substr(0, file.size() / 2), "do not end");
  refused(file + file, "for a second time");
  refused("plans of a step\n" + file, "steps.plans:1: a step begins with");
  refused("step 0123\n", "a key and a name");
}

TEST(PlansFile, TheStudyKnowsNoStepThatNoFigureShows) {
  const Study study = load_study(find_study("igo"));
  const LayerStudy layers = read_layer_study(study);
  ASSERT_FALSE(layers.search.known.empty());
  Request request;
  request.search = true;
  WantedUnits wanted;
  for (const char *figure : {"search", "images"})
    igo::open(study, request)->figure(figure, wanted, true);
  std::set<std::string> keys;
  for (const StepUnit &unit : wanted.steps())
    keys.insert(plans_key(unit));
  for (const auto &[key, step] : layers.search.known)
    EXPECT_EQ(keys.count(key), 1U) << step.name;
}
