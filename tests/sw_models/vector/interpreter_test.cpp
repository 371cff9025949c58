// What a command does: sections once and in loops, lines of tiles in and out, registers that live on, strips apart.
#include "isa/vector/assembler.hpp"
#include "sw_models/vector/interpreter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace gradweave::vector {
namespace {

using Key = std::tuple<unsigned, unsigned, std::uint32_t, std::uint32_t>; // tile, section, strip, step
using Lines = std::map<Key, std::vector<std::uint32_t>>;

/// Runs a text; a tile's line has in lane i the word that `input` gives.
template <typename F> Lines run(std::string_view text, Execution x, F input, std::vector<Key> *reads = nullptr) {
  const isa::vector::Words words = isa::vector::assemble(text);
  const auto fault = isa::vector::check(words);
  EXPECT_FALSE(fault) << fault->text;
  Lines lines;
  x.read = [&](const LinePlace &at, std::uint32_t *line) {
    if (reads != nullptr) reads->push_back({at.tile, at.section, at.strip, at.step});
    for (std::uint32_t i = 0; i < x.lanes; ++i)
      line[i] = input(at, i);
  };
  x.write = [&](const LinePlace &at, const std::uint32_t *line) {
    EXPECT_TRUE(
        lines.emplace(Key{at.tile, at.section, at.strip, at.step}, std::vector<std::uint32_t>(line, line + x.lanes))
            .second);
  };
  interpret(isa::vector::decode(words), x);
  return lines;
}

Execution shape(std::uint32_t lanes, std::uint32_t strips, std::uint32_t steps) {
  Execution x;
  x.lanes = lanes;
  x.strips = strips;
  x.steps = steps;
  return x;
}

TEST(VectorInterpreter, SumsAlongAStripAscendAndStayInTheLane) {
  // Floating-point sums whose bits depend on the order: 2^24 + 1 + ... in fp32.
  constexpr const char *kSum = "or r0, 0.0, 0.0\nloop\nadd r0, r0, t0\nonce\nor o0, r0, r0";
  const auto input = [](const LinePlace &at, std::uint32_t lane) {
    return at.step == 0 ? 0x4B800000U + lane : 0x3F800000U + at.step * 0x1000U + at.strip;
  };
  const Lines lines = run(kSum, shape(70, 3, 9), input);
  ASSERT_EQ(lines.size(), 3U);
  for (const auto &[key, line] : lines)
    for (std::uint32_t i = 0; i < 70; ++i) {
      float sum = 0;
      for (std::uint32_t step = 0; step < 9; ++step) {
        const std::uint32_t bits = input({0, 1, std::get<2>(key), step}, i);
        float value = 0;
        std::copy_n(reinterpret_cast<const char *>(&bits), 4, reinterpret_cast<char *>(&value));
        sum += value;
      }
      std::uint32_t expected = 0;
      std::copy_n(reinterpret_cast<const char *>(&sum), 4, reinterpret_cast<char *>(&expected));
      ASSERT_EQ(line[i], expected);
    }
}

TEST(VectorInterpreter, ReadsEachTileOfASectionOnceAStep) {
  std::vector<Key> reads;
  const Lines lines = run(
      "or r0, t4, t4\nloop\niadd r0, r0, t0\niadd o1, t0, t2\nonce\niadd o3, r0, t1", shape(2, 2, 3),
      [](const LinePlace &at, std::uint32_t) { return at.tile + 1; }, &reads);
  std::vector<Key> expected;
  for (std::uint32_t strip = 0; strip < 2; ++strip) {
    expected.push_back({4, 0, strip, 0});
    for (std::uint32_t step = 0; step < 3; ++step) {
      expected.push_back({0, 1, strip, step});
      expected.push_back({2, 1, strip, step});
    }
    expected.push_back({1, 2, strip, 0});
  }
  EXPECT_EQ(reads, expected);
  EXPECT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines.at({1, 1, 1, 2})[0], 1U + 3U);
  EXPECT_EQ(lines.at({3, 2, 0, 0})[1], 5U + 3U * 1U + 2U);
}

TEST(VectorInterpreter, IndicesSayWhereTheElementIs) {
  const Lines lines = run("loop\nindex o0, 0\nindex o1, 1\nindex o2, 2", shape(65, 2, 3),
                          [](const LinePlace &, std::uint32_t) { return 0U; });
  for (const auto &[key, line] : lines) {
    const auto [output, section, strip, step] = key;
    for (std::uint32_t i = 0; i < 65; ++i)
      ASSERT_EQ(line[i], output == 0 ? i : output == 1 ? strip : step);
  }
}

TEST(VectorInterpreter, ModifiersAndScalars) {
  const Lines lines = run("set s3, 0xBF800001\nloop\nor r0, -t0, -t0\nor r1, |t0|, |t0|\nxor o0, r0, r1\n"
                          "or o1, -|t0|, -|t0|\nor o2, -s3, -s3\nor o3, |s3|, |s3|",
                          shape(1, 1, 1), [](const LinePlace &, std::uint32_t) { return 0xC0000003U; });
  EXPECT_EQ(lines.at({0, 1, 0, 0})[0], 0x40000003U ^ 0x40000003U);
  EXPECT_EQ(lines.at({1, 1, 0, 0})[0], 0xC0000003U);
  EXPECT_EQ(lines.at({2, 1, 0, 0})[0], 0x3F800001U);
  EXPECT_EQ(lines.at({3, 1, 0, 0})[0], 0x3F800001U);
}

} // namespace
} // namespace gradweave::vector
