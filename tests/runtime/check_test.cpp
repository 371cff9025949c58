// The checks find what they are there to find.
#include "runtime/data/check.hpp"

#include "compiler/compiler.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace gradweave::runtime {
namespace {

using compiler::Tensor;

HostTensor ramp(bool fp32) {
  HostTensor tensor(Tensor::kDX, fp32, 3, 4);
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    if (fp32)
      tensor.full[i] = static_cast<std::uint32_t>(0x3f800000U + i);
    else
      tensor.half[i] = static_cast<std::uint16_t>(0x3f80U + i);
  }
  return tensor;
}

TEST(Compare, EqualTensorsHaveNoMismatch) {
  const Comparison c = compare(ramp(false), ramp(false));
  EXPECT_EQ(c.elements, 12U);
  EXPECT_EQ(c.mismatches, 0U);
  EXPECT_EQ(c.finite, 12U);
  EXPECT_FALSE(c.first);
}

TEST(Compare, FindsOneBitAnywhere) {
  for (const bool fp32 : {false, true})
    for (std::size_t i = 0; i < 12; ++i) {
      HostTensor got = ramp(fp32);
      if (fp32)
        got.full[i] ^= 1U;
      else
        got.half[i] = static_cast<std::uint16_t>(got.half[i] ^ 1U);
      const Comparison c = compare(got, ramp(fp32));
      ASSERT_EQ(c.mismatches, 1U);
      EXPECT_EQ(c.first->row, i / 4);
      EXPECT_EQ(c.first->col, i % 4);
      EXPECT_EQ(c.first->got ^ 1U, c.first->want);
    }
}

TEST(Compare, TellsZerosAndNansApartByTheirBits) {
  HostTensor want(Tensor::kDW, true, 1, 3);
  want.full = {0x00000000U, 0x7fc00000U, 0x7f800000U};
  HostTensor got = want;
  got.full = {0x80000000U, 0x7fc00001U, 0x7f800000U};
  const Comparison c = compare(got, want);
  EXPECT_EQ(c.mismatches, 2U);
  EXPECT_EQ(c.finite, 1U);
}

TEST(Compare, RefusesDifferentShapesAndTypes) {
  EXPECT_THROW(compare(ramp(true), ramp(false)), std::invalid_argument);
  EXPECT_THROW(compare(HostTensor(Tensor::kDX, false, 4, 3), ramp(false)), std::invalid_argument);
}

TEST(FormatValue, ShowsBitsAndDecimal) {
  EXPECT_EQ(format_value(0x3fc0, false), "0x3fc0 (1.5)");
  EXPECT_EQ(format_value(0xc0000000U, true), "0xc0000000 (-2)");
  EXPECT_EQ(format_value(0x7fc0, false), "0x7fc0 (nan)");
}

class PlanCheck : public ::testing::Test {
protected:
  PlanCheck()
      : npu_(load_machine("configs/test8.toml")),
        compiled_(compiler::compile({{"fc", 20, 30, 40, true, 0}}, npu_, {})) {
    auto &values = counters_.values;
    const auto set = [&](isa::Counter c, std::uint64_t v) { values[static_cast<std::size_t>(c)] = v; };
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    std::uint64_t read_bus = 0;
    std::uint64_t written_bus = 0;
    for (const compiler::Traffic &t : compiled_.traffic.front()) {
      read += t.read_bytes;
      written += t.write_bytes;
      read_bus += t.read_bus_bytes;
      written_bus += t.write_bus_bytes;
    }
    std::uint64_t blocks = 0;
    std::uint64_t steps = 0;
    for (const isa::Command &command : compiled_.stream) {
      const auto decoded = isa::decode(command);
      const auto *gemm = std::get_if<isa::GemmCommand>(&decoded->op);
      if (gemm == nullptr) continue;
      const std::uint64_t here = std::uint64_t{(gemm->m + 7) / 8} * ((gemm->n + 7) / 8);
      blocks += here;
      steps += here * gemm->k;
    }
    set(isa::Counter::CYCLES, steps + 100);
    set(isa::Counter::READ_BYTES, read);
    set(isa::Counter::WRITE_BYTES, written);
    set(isa::Counter::READ_BEATS, read_bus / npu_.bus_bytes);
    set(isa::Counter::WRITE_BEATS, written_bus / npu_.bus_bytes);
    set(isa::Counter::BLOCKS, blocks);
    set(isa::Counter::COMPUTE_ACTIVE, steps);
    set(isa::Counter::COMPUTE_EMPTY, 100);
    set(isa::Counter::LOAD_EMPTY, steps + 100);
    set(isa::Counter::STORE_EMPTY, steps + 100);
    set(isa::Counter::FETCH_DONE, steps + 100);
  }
  Machine npu_;
  compiler::Compiled compiled_;
  Counters counters_;
};

TEST_F(PlanCheck, AcceptsCountersThatAgreeWithThePlan) {
  EXPECT_TRUE(check_counters(compiled_, npu_, counters_, true).empty());
}

TEST_F(PlanCheck, FindsEveryCounterThatIsOffByOne) {
  for (std::size_t i = 0; i < counters_.values.size(); ++i) {
    if (static_cast<isa::Counter>(i) == isa::Counter::FETCH_BEATS) continue; // depends on where the stream lies
    Counters off = counters_;
    ++off.values[i];
    const std::vector<std::string> problems = check_counters(compiled_, npu_, off, true);
    ASSERT_FALSE(problems.empty()) << isa::kCounters[i].name;
    const bool named = problems.front().find(isa::kCounters[i].name) != std::string::npos ||
                       problems.front().find(fmt::format("group {} ", isa::kCounters[i].group)) != std::string::npos;
    EXPECT_TRUE(named) << isa::kCounters[i].name << ": " << problems.front();
  }
}

TEST_F(PlanCheck, WithoutTimeOnlyCountsWork) {
  Counters untimed;
  for (const isa::Counter c : {isa::Counter::READ_BYTES, isa::Counter::WRITE_BYTES, isa::Counter::BLOCKS})
    untimed.values[static_cast<std::size_t>(c)] = counters_[c];
  EXPECT_TRUE(check_counters(compiled_, npu_, untimed, false).empty());
  EXPECT_FALSE(check_counters(compiled_, npu_, untimed, true).empty());
  ++untimed.values[static_cast<std::size_t>(isa::Counter::BLOCKS)];
  EXPECT_EQ(check_counters(compiled_, npu_, untimed, false).size(), 1U);
}

TEST_F(PlanCheck, CyclesMustBePossibleAndThoseOfTheTimingModel) {
  const auto problems = [&](std::uint64_t cycles, bool exact) {
    Counters c = counters_;
    c.values[static_cast<std::size_t>(isa::Counter::CYCLES)] = cycles;
    return fmt::format("{}", fmt::join(check_cycles(compiled_, c, exact), "; "));
  };
  EXPECT_EQ(problems(compiled_.predicted_cycles, true), "");
  EXPECT_NE(problems(compiled_.predicted_cycles + 1, true).find("the timing model predicted"), std::string::npos);
  EXPECT_NE(problems(compiled_.predicted_cycles - 1, true).find("the timing model predicted"), std::string::npos);
  EXPECT_EQ(problems(compiled_.predicted_cycles + 1, false), "") << "stalls take time";
  EXPECT_EQ(problems(compiled_.bounds.run_cycles, false), "");
  EXPECT_NE(problems(compiled_.bounds.run_cycles - 1, false).find("impossible"), std::string::npos);
}

TEST_F(PlanCheck, OriginNamesTileAndCommands) {
  compiler::TensorBinding dw;
  dw.tensor = Tensor::kDW;
  const std::string text = describe_origin(compiled_, dw, 29, 39);
  EXPECT_NE(text.find("tile rows"), std::string::npos) << text;
  EXPECT_NE(text.find("GEMM fp32"), std::string::npos) << text;
  EXPECT_NE(text.find("STORE fp32"), std::string::npos) << text;
  EXPECT_EQ(describe_origin(compiled_, dw, 30, 0), "no GEMM of the stream computes this element");
}

} // namespace
} // namespace gradweave::runtime
