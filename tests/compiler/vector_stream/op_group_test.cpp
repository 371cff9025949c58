// Ops that hand values on in the scratchpad: bits of the graph's golden execution on the functional model, and what
// never moves.
#include "tests/compiler/vector_stream/op_group.hpp"

#include <array>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

/// Bytes of the transfers of a stream.
std::uint64_t moved(const std::vector<isa::Command> &stream) {
  std::uint64_t bytes = 0;
  for (const isa::Command &command : stream) {
    const isa::Decoded d = *isa::decode(command);
    if (const auto *dma = std::get_if<isa::DmaCommand>(&d.op))
      bytes += std::uint64_t{dma->rows} * dma->cols * (dma->fp32 ? 4 : 2);
  }
  return bytes;
}

class OpGroups : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(OpGroups, OfGeluOfAnySize) {
  for (const std::uint32_t rows : {1U, 7U, 40U})
    for (const std::uint32_t cols : {1U, 13U, 97U}) {
      OpGroup g(npu_);
      g.add("Gelu", {g.input("x", ElementType::kBf16, {rows, cols})}, ElementType::kBf16, "y");
      SCOPED_TRACE(fmt::format("{} x {}", rows, cols));
      ASSERT_NO_FATAL_FAILURE(g.check());
    }
}

/// The edge between them is bf16: rounded in the scratchpad, where it stays.
TEST_P(OpGroups, OfBiasAndReluTogether) {
  for (const std::uint32_t cols : {1U, 5U, 8U, 33U, 300U}) {
    OpGroup g(npu_);
    const TensorId x = g.input("x", ElementType::kFp32, {37, cols}), b = g.input("b", ElementType::kFp32, {cols});
    g.add("Relu", {g.add("Bias", {x, b}, ElementType::kBf16, "sum")}, ElementType::kBf16, "y");
    SCOPED_TRACE(cols);
    ASSERT_NO_FATAL_FAILURE(g.check());
    if (cols == 33) EXPECT_LT(moved(g.commands()), 37U * cols * 6 + 1000 * cols);
    if (cols == 33) EXPECT_EQ(g.jobs().values[2].tensor, graph::kNone);
  }
}

/// Moments, step and weights: two jobs, whose step stays.
TEST_P(OpGroups, OfAdamW) {
  OpGroup g(npu_);
  const auto given = add_adamw(g, {23, 31});
  ASSERT_NO_FATAL_FAILURE(g.check(run_functional, given));
  const std::uint64_t all = 23 * 31 * 28;
  EXPECT_GE(moved(g.commands()), all);
  EXPECT_LT(moved(g.commands()), all + 200);
}

/// A number for all, and a tensor that is both a result and read by another op.
TEST_P(OpGroups, OfAChainWithAScalar) {
  OpGroup g(npu_);
  const TensorId x = g.input("x", ElementType::kBf16, {19, 21}), s = g.input("s", ElementType::kFp32, {1, 1});
  const TensorId y = g.add("Mul", {x, s}, ElementType::kBf16, "y");
  g.add("Sub", {x, y}, ElementType::kFp32, "z");
  g.graph().results.push_back(y);
  ASSERT_NO_FATAL_FAILURE(g.check());
}

TEST_P(OpGroups, OfAResidualAndItsNorm) {
  OpGroup g(npu_);
  add_residual_norm(g, 30, 12);
  ASSERT_NO_FATAL_FAILURE(g.check());
}

/// Sums over the rows, of which other operators take some at a time.
TEST_P(OpGroups, OfANormsGradientAndItsSums) {
  for (const std::uint32_t rows : {2U, 9U, 64U})
    for (const std::uint32_t cols : {1U, 12U, 19U}) {
      OpGroup g(npu_);
      add_norm_gradient(g, rows, cols);
      SCOPED_TRACE(fmt::format("{} x {}", rows, cols));
      ASSERT_NO_FATAL_FAILURE(g.check());
    }
}

/// A chain over the rows behind an operator of elements.
TEST_P(OpGroups, OfAnActivationsGradientAndItsBias) {
  OpGroup g(npu_);
  const TensorId dy = g.input("dy", ElementType::kBf16, {70, 21}), x = g.input("x", ElementType::kBf16, {70, 21});
  const TensorId dx = g.add("GeluGradient", {dy, x}, ElementType::kBf16, "dx");
  g.add("BiasGradient", {dx}, ElementType::kFp32, "db");
  g.graph().results.push_back(dx);
  ASSERT_NO_FATAL_FAILURE(g.check());
}

/// A sum over the rows is there behind the last of them, though its reader takes rows, too.
TEST_P(OpGroups, OfASumAndItsReader) {
  OpGroup g(npu_);
  add_norm_gradient(g, 64, 12);
  g.add("Bias", {g.graph().find("dx"), g.graph().find("dbias")}, ElementType::kFp32, "y");
  g.graph().results.push_back(g.graph().find("dbias"));
  ASSERT_NO_FATAL_FAILURE(g.check());
}

/// What an op in between reads, and one behind it writes elsewhere.
TEST_P(OpGroups, OfATransposeBetween) {
  OpGroup g(npu_);
  const TensorId x = g.input("x", ElementType::kBf16, {6, 10});
  const TensorId a = g.add("Relu", {x}, ElementType::kBf16, "a");
  graph::Attributes order;
  order.set("perm", std::vector<std::int64_t>{1, 0});
  const TensorId t = g.add("Transpose", {a}, ElementType::kBf16, "t", order);
  g.add("Relu", {t}, ElementType::kBf16, "b");
  ASSERT_NO_FATAL_FAILURE(g.check());
}

/// Windows of few channels are columns of a line of the image, where its lines fit.
TEST_P(OpGroups, OfPoolingOfFewChannels) {
  const auto window = [](std::int64_t size, std::int64_t stride, std::int64_t pad) {
    graph::Attributes a;
    a.set("kernel_shape", std::vector<std::int64_t>{size, size});
    a.set("strides", std::vector<std::int64_t>{stride, stride});
    a.set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
    return a;
  };
  const std::array<graph::Attributes, 4> windows{window(2, 2, 0), window(3, 2, 1), window(2, 1, 0), window(3, 3, 0)};
  for (const std::uint32_t channels : {2U, 3U, 7U})
    for (std::size_t w = 0; w < windows.size(); ++w)
      for (const std::uint32_t batch : {1U, 9U}) {
        OpGroup g(npu_);
        const TensorId x = g.input("x", ElementType::kBf16, {batch, 6, 6, channels});
        const TensorId y = g.add("MaxPool", {x}, ElementType::kBf16, "y", windows[w]);
        const TensorId dy = g.input("dy", ElementType::kFp32, g.graph().tensors[y].shape);
        g.add("MaxPoolGradient", {dy, x}, ElementType::kBf16, "dx", windows[w]);
        SCOPED_TRACE(fmt::format("{} images, {} channels, window {}", batch, channels, w));
        ASSERT_NO_FATAL_FAILURE(g.check());
      }
}

/// Windows overlap, so that their taps are parts of common rows; pixels of several lines of an image go together.
TEST_P(OpGroups, OfPoolingOfManyChannels) {
  const auto window = [](std::int64_t size, std::int64_t stride, const std::vector<std::int64_t> &pads) {
    graph::Attributes a;
    a.set("kernel_shape", std::vector<std::int64_t>{size, size});
    a.set("strides", std::vector<std::int64_t>{stride, stride});
    a.set("pads", pads);
    return a;
  };
  const std::array<graph::Attributes, 5> windows{window(3, 1, {1, 1, 1, 1}), window(3, 2, {0, 0, 1, 1}),
                                                 window(2, 2, {0, 0, 0, 0}), window(2, 1, {0, 0, 1, 1}),
                                                 window(5, 2, {2, 2, 2, 2})};
  for (const std::uint32_t pixels : {7U, 12U})
    for (std::size_t w = 0; w < windows.size(); ++w)
      for (const std::uint32_t channels : {5U, 21U}) {
        const graph::Shape image{2, pixels, pixels, channels};
        SCOPED_TRACE(fmt::format("{} pixels, {} channels, window {}", pixels, channels, w));
        OpGroup max(npu_);
        const TensorId x = max.input("x", ElementType::kBf16, image);
        const TensorId y = max.add("MaxPool", {x}, ElementType::kBf16, "y", windows[w]);
        const TensorId dy = max.input("dy", ElementType::kFp32, max.graph().tensors[y].shape);
        max.add("MaxPoolGradient", {dy, x}, ElementType::kBf16, "dx", windows[w]);
        ASSERT_NO_FATAL_FAILURE(max.check());
        OpGroup average(npu_);
        const TensorId mean = average.add("AveragePool", {average.input("x", ElementType::kBf16, image)},
                                          ElementType::kBf16, "y", windows[w]);
        graph::Attributes with_image = windows[w];
        with_image.set("image", std::vector<std::int64_t>{pixels, pixels});
        const TensorId of_mean = average.input("dy", ElementType::kFp32, average.graph().tensors[mean].shape);
        average.add("AveragePoolGradient", {of_mean}, ElementType::kBf16, "dx", with_image);
        ASSERT_NO_FATAL_FAILURE(average.check());
      }
}

/// Whole numbers between two operators; any bits are compared, infinities, NaN and zeros of both signs among them.
TEST_P(OpGroups, OfComparisonsAndWhatTheyChoose) {
  for (const char *name : {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "NotEqual"})
    for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
      OpGroup g(npu_);
      const TensorId a = g.input("a", type, {3, 41}), b = g.input("b", type, {41}), c = g.input("c", type, {});
      const TensorId holds = g.add(name, {a, b}, ElementType::kInt32, "holds");
      const TensorId same = g.add(name, {a, a}, ElementType::kInt32, "same");
      g.add("Where", {holds, a, b}, type, "chosen");
      g.add("Where", {same, c, a}, type, "one");
      SCOPED_TRACE(name);
      ASSERT_NO_FATAL_FAILURE(g.check());
    }
}

INSTANTIATE_TEST_SUITE_P(Npus, OpGroups, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

/// The sum and the norm never move: 6 bytes an element come, 2 go, besides statistics, and gamma and beta again and
/// again.
TEST(OpGroupsOnSmall, KeepAResidualInTheScratchpad) {
  const Machine npu = vector_machine("small");
  OpGroup g(npu);
  add_residual_norm(g, 512, 312);
  const std::uint64_t all = 512 * 312 * 8;
  EXPECT_GE(moved(g.commands()), all);
  EXPECT_LT(moved(g.commands()), all + all / 100);
}

/// Each operand comes once, though sums go over the rows and the gradient along them, and each result goes once.
TEST(OpGroupsOnSmall, ReadANormsOperandsOnce) {
  const Machine npu = vector_machine("small");
  OpGroup g(npu);
  add_norm_gradient(g, 512, 312);
  const std::uint64_t all = 512 * 312 * (2 + 4 + 4 + 2);
  EXPECT_GE(moved(g.commands()), all);
  EXPECT_LT(moved(g.commands()), all + all / 100);
}

/// LeNet's first pooling: the image comes once, in whole lines, and so does what goes back.
TEST(OpGroupsOnSmall, PoolWholeLinesOfImages) {
  const Machine npu = vector_machine("small");
  graph::Attributes window;
  window.set("kernel_shape", std::vector<std::int64_t>{2, 2});
  window.set("strides", std::vector<std::int64_t>{2, 2});
  OpGroup forward(npu), back(npu);
  const std::uint64_t all = 32 * 28 * 28 * 6;
  forward.add("MaxPool", {forward.input("x", ElementType::kBf16, {32, 28, 28, 6})}, ElementType::kBf16, "y", window);
  EXPECT_EQ(moved(forward.commands()), all * 2 + all / 4 * 2);
  const TensorId dy = back.input("dy", ElementType::kFp32, {32, 14, 14, 6}),
                 x = back.input("x", ElementType::kBf16, {32, 28, 28, 6});
  back.add("MaxPoolGradient", {dy, x}, ElementType::kBf16, "dx", window);
  EXPECT_EQ(moved(back.commands()), all * 2 + all / 4 * 4 + all * 2);
}

/// Operations of all lanes, as if all lines were full.
double operations_of(const OpJobs &jobs) {
  double operations = 0;
  for (const JobStep &step : jobs.steps)
    if (const auto *job = std::get_if<VectorJob>(&step)) {
      const auto &sections = jobs.programs[job->program].sections;
      for (std::size_t s = 0; s < sections.size(); ++s)
        operations += static_cast<double>(sections[s].size()) * job->lanes * (s % 2 == 1 ? job->steps : 1.0);
    }
  return operations;
}

/// What operators take on `small` with four lines at once, beside what bounds them: docs/vector-unit.md has the table.
class OperatorsOnSmall : public testing::Test {
protected:
  /// `bytes` to and from memory at least; `least` is the share of the cycles that the greatest bound has.
  void expect(const char *name, const OpGroup &group, double bytes, double least) const {
    const timing::RunResult run = group.time();
    ASSERT_TRUE(run.ok());
    const double lanes = operations_of(group.jobs()) / (npu_.lanes() * npu_.vector_groups);
    const auto lines = static_cast<double>(
        std::max(run.counter(isa::Counter::VECTOR_READS), run.counter(isa::Counter::VECTOR_WRITES)));
    const double memory = bytes * static_cast<double>(npu_.memory.bytes_den) / npu_.memory.bytes_num;
    const double share = std::max({lanes, lines, memory}) / static_cast<double>(run.cycles());
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.1f} % |\n", name, run.cycles(), lanes, lines, memory,
               100 * share);
    EXPECT_GT(share, least) << name;
    EXPECT_LE(share, 1) << name;
  }
  Machine npu_ = vector_machine("small");
};

TEST_F(OperatorsOnSmall, TakeWhatLanesLinesOrMemoryTake) {
  OpGroup gelu(npu_);
  gelu.add("Gelu", {gelu.input("x", ElementType::kBf16, {512, 1200})}, ElementType::kBf16, "y");
  expect("Gelu of 512 x 1200", gelu, 512 * 1200 * 4, 0.9);
  OpGroup biased(npu_);
  const TensorId sum = biased.add(
      "Bias", {biased.input("x", ElementType::kFp32, {512, 1200}), biased.input("b", ElementType::kFp32, {1200})},
      ElementType::kBf16, "sum");
  biased.add("Gelu", {sum}, ElementType::kBf16, "y");
  biased.graph().results.push_back(sum);
  expect("Bias and Gelu of 512 x 1200", biased, 512 * 1200 * 8, 0.8);
  OpGroup adamw(npu_);
  add_adamw(adamw, {312, 1200});
  expect("AdamW of 312 x 1200", adamw, 312 * 1200 * 28, 0.9);
}

TEST_F(OperatorsOnSmall, PoolWindowsOfFewChannels) {
  graph::Attributes window;
  window.set("kernel_shape", std::vector<std::int64_t>{2, 2});
  window.set("strides", std::vector<std::int64_t>{2, 2});
  for (const auto &[pixels, channels] : {std::pair{28U, 6U}, {10U, 16U}}) {
    const graph::Shape image{32, pixels, pixels, channels};
    const double all = 32.0 * pixels * pixels * channels;
    OpGroup forward(npu_), back(npu_);
    forward.add("MaxPool", {forward.input("x", ElementType::kBf16, image)}, ElementType::kBf16, "y", window);
    expect(fmt::format("MaxPool of 32 x {0} x {0} x {1}", pixels, channels).c_str(), forward, all * 2.5, 0.5);
    const TensorId dy = back.input("dy", ElementType::kFp32, {32, pixels / 2, pixels / 2, channels}),
                   x = back.input("x", ElementType::kBf16, image);
    back.add("MaxPoolGradient", {dy, x}, ElementType::kBf16, "dx", window);
    expect(fmt::format("MaxPoolGradient of 32 x {0} x {0} x {1}", pixels, channels).c_str(), back, all * 5, 0.45);
  }
}

TEST_F(OperatorsOnSmall, PoolWindowsOfManyChannels) {
  struct Pool {
    std::uint32_t pixels, channels;
    std::int64_t size, stride;
    std::vector<std::int64_t> pads;
  };
  for (const Pool &p : {Pool{56, 192, 3, 2, {0, 0, 1, 1}},
                        {28, 256, 3, 1, {1, 1, 1, 1}},
                        {14, 528, 3, 1, {1, 1, 1, 1}},
                        {208, 32, 2, 2, {0, 0, 0, 0}}}) {
    graph::Attributes window;
    window.set("kernel_shape", std::vector<std::int64_t>{p.size, p.size});
    window.set("strides", std::vector<std::int64_t>{p.stride, p.stride});
    window.set("pads", p.pads);
    const graph::Shape image{1, p.pixels, p.pixels, p.channels};
    const double all = static_cast<double>(image.elements()), results = all / static_cast<double>(p.stride * p.stride);
    OpGroup forward(npu_), back(npu_);
    const TensorId y =
        forward.add("MaxPool", {forward.input("x", ElementType::kBf16, image)}, ElementType::kBf16, "y", window);
    const std::string of =
        fmt::format("of {0} x {0} x {1} by {2} x {2}, stride {3}", p.pixels, p.channels, p.size, p.stride);
    expect(("MaxPool " + of).c_str(), forward, all * 2 + results * 2, 0.5);
    const TensorId dy = back.input("dy", ElementType::kFp32, forward.graph().tensors[y].shape),
                   x = back.input("x", ElementType::kBf16, image);
    back.add("MaxPoolGradient", {dy, x}, ElementType::kBf16, "dx", window);
    expect(("MaxPoolGradient " + of).c_str(), back, all * 4 + results * 4, 0.35);
  }
}

TEST_F(OperatorsOnSmall, ReduceAlongTheirSteps) {
  OpGroup softmax(npu_);
  softmax.add("Softmax",
              {softmax.input("x", ElementType::kFp32, {4, 12, 128, 128}),
               softmax.input("mask", ElementType::kFp32, {4, 1, 1, 128})},
              ElementType::kBf16, "y");
  expect("Softmax of 4 x 12 x 128 x 128, masked", softmax, 4 * 12 * 128 * 128 * 6, 0.75);
  OpGroup norm(npu_);
  const auto vector = [](OpGroup &g, const char *name, std::uint32_t length) {
    return g.input(name, ElementType::kFp32, {length});
  };
  const TensorId x = norm.input("x", ElementType::kFp32, {512, 312});
  norm.add("LayerNormalization", {x, vector(norm, "gamma", 312), vector(norm, "beta", 312)}, ElementType::kBf16, "y");
  expect("LayerNormalization of 512 x 312", norm, 512 * 312 * 6, 0.8);
  OpGroup residual(npu_);
  add_residual_norm(residual, 512, 312);
  expect("Add, LayerNormalization and Cast of 512 x 312", residual, 512 * 312 * 8, 0.7);
  for (const std::uint32_t pixels : {28U, 14U, 7U}) {
    OpGroup batch(npu_);
    const std::uint32_t channels = 3584 / pixels;
    const TensorId image = batch.input("x", ElementType::kBf16, {4, pixels, pixels, channels});
    std::vector<TensorId> inputs{image};
    for (const char *name : {"gamma", "beta", "mean", "variance"})
      inputs.push_back(vector(batch, name, channels));
    batch.add("BatchNormalization", inputs, ElementType::kBf16, "y");
    const std::string name = fmt::format("BatchNormalization of 4 x {0} x {0} x {1}", pixels, channels);
    const double passes = pixels == 28 ? 4 : 2; // 3,136 rows are read three times
    expect(name.c_str(), batch, 4.0 * pixels * pixels * channels * 2 * passes, 0.5);
  }
}

} // namespace
} // namespace gradweave::compiler
