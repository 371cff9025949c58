// Operators of elements as commands: the functional model gives the bits of the graph's golden execution, the timing
// model an end, and the check of hazards finds none.
#include "tests/compiler/elements.hpp"

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

class ElementCommands : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(ElementCommands, OfGeluOfAnySize) {
  for (const std::uint32_t rows : {1U, 7U, 40U})
    for (const std::uint32_t cols : {1U, 13U, 97U}) {
      Elements e(npu_);
      e.add("Gelu", {e.input("x", ElementType::kBf16, {rows, cols})}, ElementType::kBf16, "y");
      SCOPED_TRACE(fmt::format("{} x {}", rows, cols));
      ASSERT_NO_FATAL_FAILURE(e.check());
    }
}

/// The edge between them is bf16: rounded inside the program.
TEST_P(ElementCommands, OfBiasAndReluTogether) {
  for (const std::uint32_t cols : {1U, 5U, 8U, 33U, 300U}) {
    Elements e(npu_);
    const TensorId x = e.input("x", ElementType::kFp32, {37, cols}), b = e.input("b", ElementType::kFp32, {cols});
    e.add("Relu", {e.add("Bias", {x, b}, ElementType::kBf16, "sum")}, ElementType::kBf16, "y");
    ASSERT_NO_FATAL_FAILURE(e.check());
    EXPECT_EQ(e.work().operands[1].repeat, ElementEdge::Repeat::kRow);
  }
}

TEST_P(ElementCommands, OfAdamW) {
  Elements e(npu_);
  const KnownValues known = add_adamw(e, {23, 31});
  ASSERT_NO_FATAL_FAILURE(e.check(known));
  EXPECT_EQ(e.work().operands.size(), 4U);
  EXPECT_EQ(e.work().results.size(), 3U);
}

/// Scalars, and a tensor that is both a result and read by another op.
TEST_P(ElementCommands, OfAChainWithAScalar) {
  Elements e(npu_);
  const TensorId x = e.input("x", ElementType::kBf16, {19, 21}), s = e.input("s", ElementType::kFp32, {1, 1});
  const TensorId y = e.add("Mul", {x, s}, ElementType::kBf16, "y");
  e.add("Sub", {x, y}, ElementType::kFp32, "z");
  e.graph().results.push_back(y);
  ASSERT_NO_FATAL_FAILURE(e.check());
}

INSTANTIATE_TEST_SUITE_P(Npus, ElementCommands, testing::Values("test8v2", "test6x10v1", "test8c2v8"));

std::string error_of(const std::function<void()> &body) {
  try {
    body();
  } catch (const ElementProgramError &error) {
    return error.what();
  }
  return {};
}

TEST(ElementPrograms, SayWhatCannotBeOne) {
  const Machine npu = load_machine("configs/test8v2.toml");
  Elements softmax(npu);
  softmax.add("Softmax", {softmax.input("x", ElementType::kFp32, {2, 3})}, ElementType::kFp32, "y");
  EXPECT_EQ(error_of([&] { softmax.record(); }),
            "op 'y' is a Softmax, which is not recorded yet; there are " + recordable_operators());
  Elements adamw(npu);
  add_adamw(adamw, {4, 4});
  EXPECT_EQ(error_of([&] { adamw.record(); }),
            "op 'next': 'constants' is [3], neither as the result nor a row of it nor one number");
  const Machine without = load_machine("configs/test8.toml");
  Elements gelu(without);
  gelu.add("Gelu", {gelu.input("x", ElementType::kBf16, {2, 3})}, ElementType::kBf16, "y");
  EXPECT_EQ(error_of([&] { gelu.time(); }), "NPU 'test8' has no vector unit; give it one by vector_groups");
}

/// What TinyBERT's feed-forward and optimizer take on `small` with four lines at once, beside what bounds them.
TEST(ElementPrograms, TakeWhatLanesOrMemoryTake) {
  Machine npu = load_machine("configs/small.toml");
  npu.vector_groups = 4;
  const auto report = [&](const char *name, Elements &e, const KnownValues &known, double bytes, double least) {
    const timing::RunResult run = e.time(known);
    ASSERT_TRUE(run.ok());
    const double elements = static_cast<double>(e.work().rows) * e.work().cols;
    const double lanes = elements / (npu.lanes() * 4.0) * static_cast<double>(e.work().program.sections[1].size());
    const double memory = elements * bytes * static_cast<double>(npu.memory.bytes_den) / npu.memory.bytes_num;
    const double share = std::max(lanes, memory) / static_cast<double>(run.cycles());
    fmt::print("{}: {} cycles; lanes {:.0f}, memory {:.0f}: {:.1f} % of the larger\n", name, run.cycles(), lanes,
               memory, 100 * share);
    EXPECT_GT(share, least);
    EXPECT_LE(share, 1);
  };
  Elements gelu(npu);
  gelu.add("Gelu", {gelu.input("x", ElementType::kBf16, {512, 1200})}, ElementType::kBf16, "y");
  report("Gelu of 512 x 1200", gelu, {}, 4, 0.9);
  Elements adamw(npu);
  const KnownValues known = add_adamw(adamw, {312, 1200});
  report("AdamW of 312 x 1200", adamw, known, 28, 0.9);
}

} // namespace
} // namespace gradweave::compiler
