// Layers that the vector unit computes, by themselves: which are, what compile() makes of them, and steps that have
// some.
#include "compiler/back/compile_plan.hpp"
#include "compiler/back/vector_layer.hpp"
#include "compiler/back/vector_room.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/verify/verify.hpp"
#include "graph/frontend/load_network.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/compiler/depthwise_layers.hpp"
#include "tests/sw_models/random_convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>

namespace gradweave::compiler {
namespace {

std::size_t count_of_unit(const std::vector<Layer> &layers) {
  return static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), [](const Layer &l) { return l.vector; }));
}

Layer depthwise(std::uint32_t channels, std::uint32_t size, std::uint32_t kernel) {
  return depthwise_layer(depthwise_conv(channels, size, kernel));
}

TEST(VectorLayers, AreMobileNetsDepthwiseOnesWhereThereIsAUnit) {
  const std::vector<Layer> network = load_network("models/mobilenet.graph", 1).layers;
  for (const char *name : {"small", "large"}) {
    const Machine npu = load_config(name);
    std::vector<Layer> apart = network, step = network;
    choose_vector_layers(apart, Pass::kForward, npu);
    choose_vector_layers_of_step(step, Pass::kForward, npu);
    EXPECT_EQ(count_of_unit(apart), 13U) << name;
    EXPECT_EQ(count_of_unit(step), 13U) << name;
    for (const Layer &l : apart)
      EXPECT_EQ(l.vector, l.groups > 1) << l.name;
  }
  Machine without = load_config("large");
  without.vector_groups = 0;
  std::vector<Layer> layers = network;
  choose_vector_layers(layers, Pass::kForward, without);
  EXPECT_EQ(count_of_unit(layers), 0U);
}

TEST(VectorLayers, AreTheArraysWhereThatMayBeFasterByTwice) {
  const Machine npu = load_config("test8v2");
  std::size_t of_unit = 0, of_array = 0;
  Dice dice(1);
  for (int i = 0; i < 60; ++i) {
    Convolution conv = random_strided_convolution(dice, 4);
    conv.groups = conv.channels = conv.out_channels = dice.between(1, 21);
    const Layer layer = image_layer(conv);
    std::vector<Layer> layers{layer};
    choose_vector_layers(layers, Pass::kForward, npu);
    if (!takes_vector_unit(layer, Pass::kForward, npu)) continue;
    Layer unit = layer;
    unit.vector = unit.image = true;
    const bool faster =
        compile_vector_layer(unit, Pass::kForward, npu).predicted_cycles <= 2 * layer_bound(layer, Pass::kForward, npu);
    EXPECT_EQ(layers.front().vector, faster) << layer.name;
    (faster ? of_unit : of_array) += 1;
  }
  EXPECT_GT(of_unit, 0U);
  EXPECT_GT(of_array, 0U);
}

/// Whatever was best for the array: Y alone over the image, or a packed one.
TEST(VectorLayers, ReadImagesAsTheyLieInAllPasses) {
  const Machine npu = load_config("small");
  std::vector<Layer> layers{depthwise(47, 9, 3), depthwise(1, 28, 7)};
  layers[0].forward_image = layers[1].packed = true;
  layers[0].image = layers[0].dx = layers[1].dx = false;
  choose_vector_layers(layers, Pass::kBoth, npu);
  for (const Layer &layer : layers) {
    ASSERT_TRUE(layer.vector) << layer.conv->channels;
    EXPECT_TRUE(layer.image && !layer.packed);
    EXPECT_EQ(split_products(layer, npu).size(), 1U);
  }
}

TEST(VectorLayers, HaveOneStreamUnderAllSchedules) {
  const Machine npu = load_config("test8v2");
  Layer layer = depthwise(12, 6, 3), twin = layer;
  layer.vector = twin.vector = true;
  twin.name = "twin";
  CompileCache cache;
  CompileOptions options;
  options.pass = Pass::kBoth;
  const Compiled one = compile({layer}, npu, options, cache);
  EXPECT_EQ(one.compute_cycles, 0U);
  options.schedule = Schedule::kSearch;
  const Compiled other = compile({twin}, npu, options, cache);
  EXPECT_EQ(other.stream, one.stream);
  EXPECT_EQ(other.layer().name, "twin");
  EXPECT_EQ(other.chosen, Schedule::kSearch);
  EXPECT_GE(one.predicted_cycles, one.bounds.run_cycles);
  options.stream = false;
  const Compiled without = compile({layer}, npu, options, cache);
  EXPECT_TRUE(without.stream.empty());
  EXPECT_EQ(without.predicted_cycles, one.predicted_cycles);
  EXPECT_EQ(without.traffic.size(), 1U);
  EXPECT_THROW(compile({layer, twin}, npu, options, cache), std::invalid_argument) << "a step has a search of its own";
  Machine tiny = npu;
  tiny.memory.size_bytes = 4096;
  EXPECT_THROW(compile({layer}, tiny, options), CompileError);
}

TEST(VectorLayers, OfAStepAreSectionsAmongProducts) {
  const Machine npu = load_config("test8v2");
  for (const StepStart start : {StepStart::kReuse, StepStart::kPlacement}) {
    Layer middle = depthwise(12, 6, 2);
    middle.vector = true;
    const std::vector<Layer> layers = layers_around(middle);
    StepOptions options;
    options.layer_plans = 20;
    options.step_plans = 60;
    options.start = start;
    const SearchedStep found = search_step(layers, npu, options);
    const Compiled step = compile_plans(layers, Pass::kBoth, found.plans, npu);
    EXPECT_EQ(step.predicted_cycles, found.cost);
    EXPECT_EQ(std::count_if(found.plans.begin(), found.plans.end(), [](const PhasePlan &p) { return p.section; }), 3)
        << "Y, dX and dW";
    EXPECT_GT(found.layers[1].searched, 0U);
    EXPECT_EQ(found.layers[1].searched, found.layers[1].conventional);
    const SharedMachine shared = share_step(layers, Pass::kBoth, npu);
    std::size_t of_sections = 0;
    for (std::size_t i = 0; i < step.stream.size(); ++i) {
      const isa::Decoded d = *isa::decode(step.stream[i]);
      const auto *dma = std::get_if<isa::DmaCommand>(&d.op);
      if (dma == nullptr || dma->spm.row < shared.tiles.spm_rows()) continue;
      EXPECT_EQ(step.info[i].layer, 1U) << "command " << i;
      ++of_sections;
    }
    EXPECT_GT(of_sections, 0U);
  }
}

/// Rows that divide a beat, where no stride needs pixels by themselves.
TEST(VectorLayers, ShareBeatsOfTheBus) {
  const Machine npu = load_config("test8v2"); // beats of 16 bytes
  for (const bool strided : {false, true})
    for (const std::uint32_t channels : {4U, 12U}) {
      Convolution conv = depthwise_conv(channels, 6, 3);
      if (strided) conv.stride_height = conv.stride_width = 2;
      std::vector<Layer> layers = layers_around(depthwise_layer(conv));
      layers[1].vector = true;
      const Layout layout = make_layout(layers, Pass::kBoth, npu);
      const auto pitch = [&](std::uint32_t layer, Tensor t) {
        return layout.tensors[static_cast<std::size_t>(layout.place(layer, t))].pitch;
      };
      const std::uint32_t pixel = channels == 12 ? 32 : strided ? 16 : 8;
      EXPECT_EQ(pitch(0, Tensor::kY), pixel);
      EXPECT_EQ(pitch(1, Tensor::kY), pixel);
      EXPECT_EQ(pitch(1, Tensor::kDX), pixel);
      EXPECT_EQ(pitch(2, Tensor::kDX), pixel);
      EXPECT_EQ(pitch(0, Tensor::kX), 16U) << "the array's";
      EXPECT_EQ(pitch(2, Tensor::kY), 16U);
      layers[1].vector = false;
      EXPECT_EQ(make_layout(layers, Pass::kForward, npu).tensors.back().pitch, 16U);
    }
}

/// Pieces begin as soon as rows of the image are there, and the product behind as soon as theirs are.
TEST(VectorLayers, AreWovenWithTheirNeighbours) {
  const Machine npu = load_config("test8v2");
  Layer middle = depthwise(8, 12, 3);
  middle.vector = true;
  const std::vector<Layer> layers = layers_around(middle);
  const Layout layout = make_layout(layers, Pass::kForward, npu);
  const SharedMachine shared = share_step(layers, Pass::kForward, npu);
  const RowRange all{0, shared.tiles.spm_rows()};
  std::vector<PhasePlan> plans(3);
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    plans[i].layer = i;
    plans[i].tile = {12, layers[i].k, layers[i].n};
    plans[i].loops = {Dim::kM, Dim::kN, Dim::kK};
    plans[i].split = {all, all, all};
    plans[i].window = 4;
  }
  plans[1] = section_phases(layers[1], 1, Pass::kForward, layout, *shared.unit).front();
  ASSERT_GT(plans[1].products.size(), 2U);
  std::vector<std::uint64_t> cycles;
  for (const bool woven : {false, true}) {
    plans[1].woven = plans[2].woven = woven;
    cycles.push_back(compile_plans(layers, Pass::kForward, plans, npu).predicted_cycles); // and verifies
  }
  EXPECT_LT(cycles[1], cycles[0]);
}

/// The unit's dW runs beside the products of the layer before, and that layer's or the next one's dW beside the unit.
TEST(VectorLayers, RunBesideTheArrayInTheBackwardPass) {
  const Machine npu = load_config("test8v2");
  Layer middle = depthwise(12, 6, 3);
  middle.vector = true;
  std::vector<Layer> layers = layers_around(middle);
  layers.front().k = 16; // for as long as the section
  StepOptions options;
  options.layer_plans = 12;
  options.step_plans = 60;
  const SearchedStep found = search_step(layers, npu, options);
  const std::vector<PhasePlan> &plans = found.plans;
  const auto put_off = [](const PhasePlan &p) { return p.woven && p.kind == PhaseKind::kDw; };
  ASSERT_TRUE(std::any_of(plans.begin(), plans.end(), put_off));
  // The same plans one after the other take longer.
  std::vector<PhasePlan> apart = plans;
  for (PhasePlan &p : apart)
    p.woven = p.joined = false;
  EXPECT_LT(found.cost, compile_plans(layers, Pass::kBoth, apart, npu).predicted_cycles);
}

TEST(VectorLayers, OfAStepFitTheirShareOrAreTheArrays) {
  std::vector<Layer> layers = layers_around(depthwise(12, 6, 2)), large = layers_around(depthwise(12, 6, 8)),
                     fits = layers;
  choose_vector_layers_of_step(fits, Pass::kBoth, load_config("test8v2"));
  EXPECT_EQ(count_of_unit(fits), 1U);
  choose_vector_layers_of_step(large, Pass::kBoth, load_config("test8v2"));
  EXPECT_EQ(count_of_unit(large), 0U) << "not in half of the macro-banks";
  choose_vector_layers_of_step(layers, Pass::kBoth, load_config("test8c2v8"));
  EXPECT_EQ(count_of_unit(layers), 0U) << "several cores";
  Machine few = load_config("test8v2");
  few.semaphores = 8;
  choose_vector_layers_of_step(layers, Pass::kBoth, few);
  EXPECT_EQ(count_of_unit(layers), 0U) << "no semaphores";
  layers[1].vector = true;
  EXPECT_THROW(share_step(layers, Pass::kBoth, few), std::invalid_argument);
}

/// What the array computes for them is dW, from rows that are the section's own.
TEST(VectorLayers, HaveSumsOfDwAloneOnTheArray) {
  const Machine npu = load_config("test8v2");
  Layer middle = depthwise(12, 6, 2);
  middle.vector = true;
  const std::vector<Layer> layers = layers_around(middle);
  StepOptions options;
  options.layer_plans = 12;
  const Compiled right = compile_plans(layers, Pass::kBoth, search_step(layers, npu, options).plans, npu);
  ASSERT_EQ(verify_stream(right, npu), "");
  std::size_t at = 0;           // the first product of dW, without initial values
  std::set<std::uint32_t> rows; // of tiles that are there before
  for (; at < right.stream.size(); ++at) {
    const isa::Decoded d = *isa::decode(right.stream[at]);
    if (std::holds_alternative<isa::ConvCommand>(d.op)) break;
    if (const auto *g = std::get_if<isa::GemmCommand>(&d.op)) rows.insert(g->b.row);
  }
  ASSERT_LT(at, right.stream.size());
  ASSERT_EQ(right.info[at].layer, 1U);
  const auto problem_of = [&](const auto &change) {
    Compiled wrong = right;
    isa::Decoded d = *isa::decode(wrong.stream[at]);
    change(std::get<isa::ConvCommand>(d.op).product);
    wrong.stream[at] = isa::encode(d);
    return verify_stream(wrong, npu);
  };
  const std::string other = "and no sums of dW",
                    tile = "a product of dW reads rows of the scratchpad that a tile is in";
  EXPECT_NE(problem_of([](isa::GemmCommand &g) { g.n -= 1; }).find(other), std::string::npos);
  EXPECT_NE(problem_of([](isa::GemmCommand &g) { g.out_bf16 = true; }).find(other), std::string::npos);
  std::string problems;
  for (const std::uint32_t row : rows)
    problems += problem_of([row](isa::GemmCommand &g) { g.b.row = row; }) + "; ";
  EXPECT_NE(problems.find(tile), std::string::npos) << problems;
}

/// Products of several taps have the image's rows of them, a pixel apart, and no others.
TEST(VectorLayers, HaveSumsOfDwOfTapsSideBySide) {
  const Machine npu = load_config("test8v2");
  Layer middle = depthwise(2, 16, 3);
  middle.vector = true;
  const std::vector<Layer> layers = layers_around(middle);
  StepOptions options;
  options.layer_plans = 12;
  const Compiled right = compile_plans(layers, Pass::kBoth, search_step(layers, npu, options).plans, npu);
  ASSERT_EQ(verify_stream(right, npu), "");
  std::size_t products = 0;
  for (std::size_t i = 0; i < right.stream.size(); ++i) {
    isa::Decoded d = *isa::decode(right.stream[i]);
    auto *v = std::get_if<isa::ConvCommand>(&d.op);
    if (v == nullptr) continue;
    ++products;
    EXPECT_EQ(v->product.m, 3 * v->product.n);
    for (const std::uint32_t rows : {v->product.m + 1, v->product.n - 1}) {
      v->product.m = rows;
      Compiled wrong = right;
      wrong.stream[i] = isa::encode(d);
      EXPECT_NE(verify_stream(wrong, npu).find("and no sums of dW"), std::string::npos) << rows;
    }
  }
  EXPECT_GE(products, 3U);
}

/// The array's steps of dW are those that the bound counts, and a few for lines beyond rows of images.
TEST(VectorLayers, BoundsCountTapsSideBySide) {
  const Machine npu = load_config("large");
  for (const std::uint32_t channels : {16U, 32U, 64U, 128U}) {
    Layer layer = depthwise(channels, 56, 3);
    layer.vector = true;
    const Compiled compiled = compile_vector_layer(layer, Pass::kBackward, npu);
    const timing::RunResult run = timing::run(npu, compiled.stream);
    ASSERT_TRUE(run.ok());
    const std::uint64_t steps = run.counter(isa::Counter::COMPUTE_ACTIVE), bound = compiled.bounds.compute_cycles;
    EXPECT_LE(bound, steps) << channels;
    EXPECT_LT(steps, bound + bound / 20) << channels;
  }
}

} // namespace
} // namespace gradweave::compiler
