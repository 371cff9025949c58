// Search: limits, errors, and the quality that the schedules are compared on.
#include "compiler/lower/describe.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/search/search.hpp"
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

std::string error_of(const Layer &layer, const Machine &npu) {
  try {
    compile_known(layer, npu, {Schedule::kSequential, Pass::kBackward});
  } catch (const CompileError &e) {
    return e.what();
  }
  return "no error";
}

TEST(Search, SaysWhyALayerCannotBeCompiled) {
  Machine npu = load_config("test8");
  npu.spm_bytes = 64;
  npu.spm_banks = 1;
  EXPECT_NE(error_of(make_layer(4, 4, 4), npu).find("no tiling fits the scratchpad"), std::string::npos);
  npu.spm_bytes = 1024;
  EXPECT_NE(error_of(make_layer(4096, 4096, 4096), npu).find("tile products on NPU"), std::string::npos);
  npu = load_config("test8");
  npu.memory.size_bytes = 1000;
  EXPECT_NE(error_of(make_layer(40, 40, 40), npu).find("needs"), std::string::npos);
  npu = load_config("test8");
  npu.semaphores = 4;
  EXPECT_NE(error_of(make_layer(4, 4, 4), npu).find("raise npu.semaphores"), std::string::npos);
  for (const Layer &layer : {make_layer(0, 4, 4), make_layer(4, 0, 4), make_layer(4, 4, 0)})
    EXPECT_NE(error_of(layer, load_config("test8")).find("none may be 0"), std::string::npos);
}

TEST(Search, BigMatricesOnTheSmallestNpu) {
  const Machine npu = load_config("test8");
  const Compiled c = compile_known(make_layer(300, 500, 400), npu, {Schedule::kRearrange, Pass::kBackward});
  EXPECT_EQ(c.useful_macs, 2ULL * 300 * 500 * 400);
  EXPECT_GE(c.compute_cycles * npu.rows * npu.cols, c.useful_macs);
}

TEST(Search, IsDeterministic) {
  const Machine npu = load_config("test16");
  const Layer layer = make_layer(64, 200, 100);
  const Layout layout = make_layout({layer}, Pass::kBackward, npu);
  const auto one = search(layer, Schedule::kInterleave, Pass::kBackward, {}, layout, npu);
  const auto two = search(layer, Schedule::kInterleave, Pass::kBackward, {}, layout, npu);
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(describe(one[i]), describe(two[i]));
}

/// Both passes of a layer are those of its passes by themselves: nothing stays from the one to the other, as in a step
/// other layers lie between, and their cycles are no more than the sum.
TEST(Search, BothPassesAreTheTwo) {
  const Machine npu = load_config("small");
  for (const Schedule schedule :
       {Schedule::kSequential, Schedule::kRearrange, Schedule::kSearch, Schedule("in_order")}) {
    const Layer layer = make_layer(96, 112, 128);
    CompileOptions options{schedule, Pass::kForward};
    options.plans = 20;
    const Compiled forward = compile_known(layer, npu, options);
    options.pass = Pass::kBackward;
    const Compiled backward = compile_known(layer, npu, options);
    options.pass = Pass::kBoth;
    const Compiled both = compile_known(layer, npu, options);
    EXPECT_EQ(both.chosen, backward.chosen);
    EXPECT_LE(both.predicted_cycles, forward.predicted_cycles + backward.predicted_cycles);
    EXPECT_GT(both.predicted_cycles, std::max(forward.predicted_cycles, backward.predicted_cycles));
    EXPECT_EQ(both.accesses.load_write_bytes, forward.accesses.load_write_bytes + backward.accesses.load_write_bytes);
  }
}

TEST(Search, WithoutStreamAllElseIsTheSame) {
  const Machine npu = load_config("test8");
  for (const Schedule schedule : all_schedules())
    for (const bool stream_first : {false, true}) {
      const Layer layer = make_layer(40, 50, stream_first ? 30 : 20);
      CompileOptions options{schedule, Pass::kBoth};
      options.plans = 20;
      options.stream = stream_first;
      const Compiled one = compile_known(layer, npu, options);
      options.stream = !stream_first;
      const Compiled two = compile_known(layer, npu, options);
      const Compiled &with = stream_first ? one : two, &without = stream_first ? two : one;
      EXPECT_FALSE(with.stream.empty());
      EXPECT_EQ(with.stream.size(), with.info.size());
      EXPECT_TRUE(without.stream.empty());
      EXPECT_TRUE(without.info.empty());
      EXPECT_EQ(with.predicted_cycles, without.predicted_cycles);
      EXPECT_EQ(with.compute_cycles, without.compute_cycles);
      EXPECT_EQ(with.chosen, without.chosen);
      EXPECT_EQ(with.tilings, without.tilings);
      EXPECT_EQ(with.bounds.run_cycles, without.bounds.run_cycles);
      for (std::size_t t = 0; t < kTensorCount; ++t) {
        EXPECT_EQ(with.traffic.front()[t].read_bus_bytes, without.traffic.front()[t].read_bus_bytes);
        EXPECT_EQ(with.traffic.front()[t].write_bytes, without.traffic.front()[t].write_bytes);
      }
    }
}

TEST(Search, BertTinyIsNearItsBound) {
  const Machine npu = load_config("small");
  for (const Schedule schedule : all_schedules()) {
    double cycles = 0, bound = 0;
    for (const Layer &layer : load_network("models/bert_tiny.graph").layers) {
      const Compiled c = compile_known(layer, npu, {schedule, Pass::kBackward});
      cycles += static_cast<double>(c.predicted_cycles);
      bound += static_cast<double>(c.bounds.run_cycles);
    }
    EXPECT_LT(cycles, 1.3 * bound) << to_string(schedule);
  }
}

} // namespace
} // namespace gradweave::compiler
