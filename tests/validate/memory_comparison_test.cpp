// Compiled steps, measured, and the memory model beside them.
#include "app/validate/memory/comparison.hpp"
#include "runtime/run/lookup.hpp"

#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

/// Three layers, of which the last reads images.
std::vector<compiler::Layer> three_layers() {
  std::vector<compiler::Layer> layers(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    compiler::Layer &layer = layers[i];
    layer.name = "l" + std::to_string(i);
    layer.index = i;
    layer.m = 64;
    layer.k = i == 0 ? 40 : 24;
    layer.n = i == 0 ? 24 : 72;
    layer.dx = i != 0;
  }
  layers[1].input = "l0";
  Convolution conv;
  conv.height = conv.width = 8;
  conv.channels = 8;
  conv.out_channels = 16;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  layers[2].conv = conv;
  layers[2].m = conv.m();
  layers[2].k = conv.k();
  layers[2].n = conv.n();
  layers[2].image = true;
  return layers;
}

MeasuredStep measured(const std::string &name) {
  compiler::CompileOptions options;
  options.plans = 5;
  return measure_step(name, three_layers(), load_machine(find_npu("test8")), options, nullptr, 1);
}

TEST(MeasuredStep, CountsAllThatTheStreamMoves) {
  const MeasuredStep step = measured("three");
  compiler::CompileOptions options;
  options.plans = 5;
  options.pass = compiler::Pass::kBoth;
  const compiler::Compiled compiled = compile(step.layers, step.npu, options);
  EXPECT_EQ(step.cycles, compiled.predicted_cycles);
  double read = 0, written = 0, commands = 0, bytes = 0;
  for (const compiler::LayerTraffic &layer : compiled.traffic)
    for (const compiler::Traffic &t : layer) {
      read += static_cast<double>(t.read_bus_bytes);
      written += static_cast<double>(t.write_bus_bytes);
    }
  ASSERT_EQ(step.passes.size(), 3U);
  for (const auto &layer : step.passes)
    for (const MeasuredPass &pass : layer) {
      EXPECT_GT(pass.moves.read_bytes, 0);
      EXPECT_GT(pass.moves.written_bytes, 0);
      EXPECT_GT(pass.moves.load_cycles, 0);
      read -= pass.moves.read_bytes;
      written -= pass.moves.written_bytes;
      commands += pass.commands;
      bytes += pass.moves.bytes();
    }
  EXPECT_EQ(read, 0); // the DRAM of test8 charges beats
  EXPECT_EQ(written, 0);
  EXPECT_EQ(commands, static_cast<double>(compiled.stream.size()));
  EXPECT_EQ(step.bytes(), bytes);
}

TEST(Comparison, LeavesTheNetworkOutThatItsConstantsAreJudgedOn) {
  std::vector<MeasuredStep> steps{measured("one"), measured("two"), measured("two")};
  steps[0].cycles = 1; // what no constants explain: the smallest fit best
  const Comparisons all = compare(steps, 2);
  ASSERT_EQ(all.steps.size(), 3U);
  EXPECT_EQ(all.steps[1].elsewhere.cycles, all.steps[2].elsewhere.cycles);
  EXPECT_LT(all.steps[1].elsewhere.cycles, all.steps[0].elsewhere.cycles);
  for (const Comparison &c : all.steps) {
    EXPECT_EQ(c.given.bytes, c.step->bytes());
    EXPECT_EQ(c.bytes_error(c.given), 0);
    EXPECT_NEAR(c.cycles_error({2.0 * static_cast<double>(c.step->cycles), 0}), 1, 1e-12);
  }
  ErrorSize size;
  size.add(-0.5, 2);
  size.add(0.25, 2);
  EXPECT_DOUBLE_EQ(size.mean, 0.375);
  EXPECT_DOUBLE_EQ(size.worst, 0.5);
}

TEST(Comparison, OfOneNetworkHasTheBuiltInConstants) {
  const std::vector<MeasuredStep> steps{measured("one")};
  const Comparisons all = compare(steps, 1);
  EXPECT_EQ(all.steps[0].elsewhere.cycles, all.steps[0].model().cycles);
  EXPECT_EQ(all.steps[0].model().cycles,
            memory_model::estimate_step(steps[0].layers, steps[0].order, steps[0].npu).cycles);
}

} // namespace
} // namespace gradweave::runtime
