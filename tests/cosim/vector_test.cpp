// The vector unit in the NPU: commands, tiles in the scratchpad, conversions, cycles and faults on the RTL, beside
// golden bits that know nothing of it.
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/vector/random_program.hpp"
#include "sw_models/vector/recorder.hpp"
#include "tests/cosim/vector_stream.hpp"
#include "tests/graph/element_programs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace gradweave::test {
namespace {

using functions::Fp32;
using vector::Recorder;
using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t kSeed = 270;
constexpr std::uint32_t kO0 = isa::kOperandSlots;

class VectorOnRtl : public testing::TestWithParam<const char *> {
protected:
  VectorOnRtl() : npu_(load_machine(fmt::format("configs/{}.toml", GetParam()))), device_(make_rtl_device(npu_)) {
    device_->allocate(1 << 20);
  }

  /// Numbers near 1, or of bf16.
  Words numbers(std::size_t count, bool fp32) {
    Words words(count);
    for (std::uint32_t &w : words)
      w = fp32 ? vector::random_fp32(dice_) : vector::random_fp32(dice_) >> 16U;
    return words;
  }
  static isa::VectorTile window(std::uint32_t slot, std::uint32_t rows, std::uint32_t cols, bool fp32, bool by_col) {
    isa::VectorTile t;
    t.slot = slot;
    t.rows = rows;
    t.cols = cols;
    t.fp32 = fp32;
    t.by_col = by_col;
    return t;
  }
  Tile &add(VectorStream &s, isa::VectorTile t) {
    return s.add(t, numbers(std::size_t{t.rows} * (t.col + t.cols), t.fp32));
  }

  /// Runs on the device what is interpreted beside it; bits of all tiles and the VECTOR's cycles are compared.
  void run(VectorStream &s, const isa::vector::Program &program, std::uint32_t elements, std::uint32_t steps,
           const std::string &what) {
    ASSERT_TRUE(s.fits()) << what;
    const isa::vector::Words words = isa::vector::encode(program);
    const auto fault = isa::vector::check(words);
    ASSERT_FALSE(fault) << what << fault->text;
    s.copy_in(*device_);
    const auto first = static_cast<std::uint32_t>(dice_.below(isa::kProgramWords - words.size()));
    device_->submit(s.commands(words, elements, steps, first));
    const RunStatus status = device_->wait();
    ASSERT_TRUE(status.ok()) << what << ": " << isa::kErrorNames[static_cast<std::size_t>(status.error)] << " at "
                             << status.error_index;
    s.interpret(program, elements, steps);
    const auto wrong = s.differs(*device_);
    EXPECT_FALSE(wrong) << what << ": tile of slot " << s.tiles()[wrong.value_or(0)].place.slot;
    const timing::CommandTimes &times = device_->command_times()[s.vector_at()];
    unsigned same = 0;
    for (const Tile &tile : s.tiles())
      if (tile.place.same_element) same |= 1U << tile.place.slot;
    VectorCycles cycles(program, (elements - 1) / npu_.lanes() + 1, steps, npu_.vector_groups, same);
    EXPECT_EQ(times.done - times.start, static_cast<std::uint64_t>(cycles.completion())) << what;
    device_->read_counters(); // whose groups have to add up
  }

  Machine npu_;
  Dice dice_{kSeed};
  std::unique_ptr<Device> device_;
};

TEST_P(VectorOnRtl, GeluOverATile) {
  const isa::vector::Program program = graph::gelu_program<graph::GeluByErf>();
  const std::uint32_t rows = 5, cols = 2 * npu_.lanes() + 3;
  VectorStream s(npu_, dice_);
  const Words x = add(s, window(0, rows, cols, false, false)).elements;
  add(s, window(kO0, rows, cols, false, false));
  run(s, program, cols, rows, "gelu");
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(s.tile(kO0).elements[i],
              bf16_from_fp32(fp32_from_bits(graph::golden_gelu<graph::GeluByErf>(x[i] << 16U))));
}

/// A lane is a row: the greatest, the sum of exponentials, the quotients; three loops over the columns.
TEST_P(VectorOnRtl, SoftmaxOverColumns) {
  Recorder r;
  const Recorder::Value most = r.variable(Recorder::constant(0xFF800000U));
  const Recorder::Value sum = r.variable(Recorder::constant(0));
  r.loop();
  r.assign(most, r.max(most, r.tile(0)));
  r.once();
  r.loop();
  r.assign(sum, r.add(sum, functions::exp(r, r.add(r.tile(0), Recorder::neg(most)))));
  r.once();
  const Recorder::Value scale = functions::reciprocal(r, sum);
  r.loop();
  r.output(0, r.mul(functions::exp(r, r.add(r.tile(0), Recorder::neg(most))), scale));

  const std::uint32_t rows = npu_.lanes() + 2, cols = 9;
  VectorStream s(npu_, dice_);
  isa::VectorTile in = window(0, rows, cols, true, true), out = window(kO0, rows, cols, false, true);
  in.col = 3;
  Words x(std::size_t{rows} * (in.col + cols));
  for (std::uint32_t &w : x)
    w = bits_of_fp32(static_cast<float>(dice_.below(2000)) / 100.0F - 10.0F);
  s.add(in, x);
  add(s, out);
  run(s, r.program(), rows, cols, "softmax");
  Fp32 p;
  for (std::uint32_t i = 0; i < rows; ++i) {
    std::uint32_t most_i = 0xFF800000U, sum_i = 0;
    for (std::uint32_t j = 0; j < cols; ++j)
      most_i = p.max(most_i, s.tile(0).at(i, j));
    for (std::uint32_t j = 0; j < cols; ++j)
      sum_i = p.add(sum_i, functions::exp(p, p.add(s.tile(0).at(i, j), Fp32::neg(most_i))));
    const std::uint32_t scale_i = functions::reciprocal(p, sum_i);
    for (std::uint32_t j = 0; j < cols; ++j) {
      const std::uint32_t y = p.mul(functions::exp(p, p.add(s.tile(0).at(i, j), Fp32::neg(most_i))), scale_i);
      ASSERT_EQ(s.tile(kO0).at(i, j), bf16_from_fp32(fp32_from_bits(y))) << i << " " << j;
    }
  }
}

/// A lane is a channel: the sum of dY over the rows, ascending; the result is a row, written once.
TEST_P(VectorOnRtl, BiasGradientOverRows) {
  Recorder r;
  const Recorder::Value sum = r.variable(Recorder::constant(0));
  r.loop();
  r.assign(sum, r.add(sum, r.tile(1)));
  r.once();
  r.output(2, r.add(sum, Recorder::constant(0x80000000U)));
  const std::uint32_t rows = 23, cols = npu_.lanes() * 3 + 1;
  VectorStream s(npu_, dice_);
  isa::VectorTile out = window(kO0 + 2, 1, cols, true, false);
  out.same_step = true;
  add(s, window(1, rows, cols, false, false));
  add(s, out);
  run(s, r.program(), cols, rows, "bias gradient");
  for (std::uint32_t j = 0; j < cols; ++j) {
    std::uint32_t want = 0;
    for (std::uint32_t i = 0; i < rows; ++i)
      want = Fp32::add(want, s.tile(1).at(i, j) << 16U);
    ASSERT_EQ(s.tile(kO0 + 2).at(0, j), Fp32::add(want, 0x80000000U));
  }
}

/// Weights, both moments and the gradient in; weights, moments and bf16 weights out; numbers of the step beside them.
template <class P> struct Adam {
  using V = typename P::Value;
  V w, m, v;
  Adam(P &p, V w0, V m0, V v0, V g, V rate) {
    const V beta1 = P::constant(0x3F666666U), rest1 = P::constant(0x3DCCCCCDU);   // 0.9, 0.1
    const V beta2 = P::constant(0x3F7FBE77U), rest2 = P::constant(0x3A83126FU);   // 0.999, 0.001
    const V epsilon = P::constant(0x322BCC77U), decay = P::constant(0x3C23D70AU); // 1e-8, 0.01
    m = p.fma(m0, beta1, p.mul(g, rest1));
    v = p.fma(v0, beta2, p.mul(p.mul(g, g), rest2));
    const V step = functions::divide(p, m, p.add(functions::sqrt(p, v), epsilon));
    w = p.fma(P::neg(rate), p.fma(w0, decay, step), w0);
  }
};

TEST_P(VectorOnRtl, AdamWWithFourTilesInAndFourOut) {
  Recorder r;
  r.loop();
  const Adam<Recorder> a(r, r.tile(0), r.tile(1), r.tile(2), r.tile(3), r.tile(4));
  r.output(3, r.to_bf16(a.w));
  r.output(0, a.w);
  r.output(1, a.m);
  r.output(2, a.v);
  const std::uint32_t rows = 3, cols = npu_.lanes() + 4;
  VectorStream s(npu_, dice_);
  isa::VectorTile rate = window(4, 1, 1, true, false);
  rate.same_element = rate.same_step = true;
  for (std::uint32_t slot = 0; slot < 4; ++slot)
    add(s, window(slot, rows, cols, true, false));
  for (std::uint32_t &v : s.tile(2).elements)
    v &= 0x7FFFFFFFU;
  s.add(rate, {0x3B83126FU});
  for (std::uint32_t slot = kO0; slot < isa::kSlots; ++slot)
    add(s, window(slot, rows, cols, slot != isa::kSlots - 1, false));
  const Words w = s.tile(0).elements, m = s.tile(1).elements, v = s.tile(2).elements, g = s.tile(3).elements;
  run(s, r.program(), cols, rows, "AdamW");
  Fp32 p;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Adam<Fp32> want(p, w[i], m[i], v[i], g[i], 0x3B83126FU);
    ASSERT_EQ(s.tile(kO0).elements[i], want.w) << i;
    ASSERT_EQ(s.tile(kO0 + 1).elements[i], want.m) << i;
    ASSERT_EQ(s.tile(kO0 + 2).elements[i], want.v) << i;
    ASSERT_EQ(s.tile(kO0 + 3).elements[i], bf16_from_fp32(fp32_from_bits(want.w))) << i;
  }
}

/// Any program, any walks, on each vector unit.
TEST_P(VectorOnRtl, RandomProgramsOnRandomTiles) {
  constexpr int kRuns = 200;
  int done = 0;
  for (int i = 0; i < kRuns && !HasFailure(); ++i) {
    VectorStream s(npu_, dice_, static_cast<std::uint8_t>(dice_.below(npu_.vectors())));
    const isa::vector::Program program = vector::RandomProgram(dice_).make();
    isa::vector::Mask used = 0;
    for (const auto &section : program.sections)
      used |= isa::vector::mask_of(section);
    const std::uint32_t group = 4 * npu_.vector_groups * npu_.lanes(); // whose strips are worked on together
    const std::uint32_t most = dice_.chance(0.3) ? 4 : dice_.chance(0.3) ? group + npu_.lanes() : 3 * npu_.lanes();
    const auto elements = static_cast<std::uint32_t>(1 + dice_.below(most));
    const auto steps = static_cast<std::uint32_t>(1 + dice_.below(dice_.chance(0.3) ? 2 * npu_.lanes() + 3 : 5));
    for (std::uint32_t slot = 0; slot < isa::kSlots; ++slot) {
      if ((used >> slot & 1U) == 0 && !dice_.chance(0.1)) continue;
      isa::VectorTile t = window(slot, 0, 0, dice_.chance(0.5), dice_.chance(0.5));
      t.same_element = slot < kO0 && dice_.chance(0.2);
      t.same_step = dice_.chance(0.2);
      t.col = dice_.chance(0.5) ? 0 : static_cast<std::uint32_t>(dice_.below(npu_.lanes()));
      const auto along = static_cast<std::uint32_t>((t.same_element ? 1 : elements) + dice_.below(2));
      const auto across = static_cast<std::uint32_t>((t.same_step ? 1 : steps) + dice_.below(2));
      t.rows = t.by_col ? along : across;
      t.cols = t.by_col ? across : along;
      add(s, t);
    }
    if (!s.fits() || s.tiles().empty()) continue;
    run(s, program, elements, steps, fmt::format("seed {}, run {}", kSeed, i));
    ++done;
  }
  EXPECT_GT(done, kRuns / 3) << "most do not fit the scratchpad";
}

/// An instruction of a random program becomes none: when the run stops, and with what.
TEST_P(VectorOnRtl, AFaultStopsTheRunInItsCycle) {
  constexpr int kRuns = 100;
  for (int i = 0; i < kRuns && !HasFailure(); ++i) {
    VectorStream s(npu_, dice_, static_cast<std::uint8_t>(dice_.below(npu_.vectors())));
    const isa::vector::Program program = vector::RandomProgram(dice_).make();
    const auto elements = static_cast<std::uint32_t>(1 + dice_.below(2 * npu_.lanes()));
    const auto steps = static_cast<std::uint32_t>(1 + dice_.below(5));
    for (std::uint32_t slot = 0; slot < isa::kSlots; ++slot)
      add(s, window(slot, steps, elements, slot % 2 != 0, false));
    if (!s.fits()) continue;
    isa::vector::Words words = isa::vector::encode(program);
    const auto word = static_cast<std::uint32_t>(2 + dice_.below(words.size() - 2));
    words[word] |= 31; // no operation
    s.copy_in(*device_);
    device_->submit(s.commands(words, elements, steps));
    const RunStatus status = device_->wait();
    ASSERT_EQ(status.error, isa::ErrorCode::VECTOR_FAULT) << i;
    EXPECT_EQ(status.error_word, word + (static_cast<std::uint32_t>(isa::vector::FaultCode::OPCODE) << 16U)) << i;
    VectorCycles cycles(program, (elements - 1) / npu_.lanes() + 1, steps, npu_.vector_groups);
    EXPECT_EQ(device_->read_counters()[isa::Counter::CYCLES] - device_->command_times()[s.vector_at()].start - 1,
              static_cast<std::uint64_t>(cycles.stop(word)))
        << "seed " << kSeed << ", run " << i;
    device_->reset();
  }
}

TEST_P(VectorOnRtl, AFaultStopsTheRunWithItsWord) {
  struct Case {
    const char *what;
    std::uint32_t word; ///< of the program
    isa::vector::FaultCode code;
    void (*spoil)(isa::vector::Words &, VectorStream &);
  };
  using isa::vector::FaultCode;
  const Case cases[] = {
      {"no PROGRAM", 0, FaultCode::HEADER, [](auto &w, auto &) { w[0] ^= 2; }},
      {"a mask that is not used", 3, FaultCode::MASK, [](auto &w, auto &) { w[1] |= std::uint64_t{1} << 12U; }},
      {"no operation", 3, FaultCode::OPCODE, [](auto &w, auto &) { w[3] |= 31; }},
      {"a tile that is not described", 1, FaultCode::TILE, [](auto &, auto &s) { s.tile(1).place.slot = 2; }},
      {"a tile of too few columns", 1, FaultCode::TILE, [](auto &, auto &s) { s.tile(1).place.cols -= 1; }},
      {"a result of too few rows", 1, FaultCode::TILE, [](auto &, auto &s) { s.tile(kO0).place.rows -= 1; }},
  };
  Recorder r;
  r.loop();
  r.output(0, r.mul(r.fma(r.tile(0), r.tile(1), r.tile(1)), r.tile(0)));
  const isa::vector::Program program = r.program();
  for (const Case &c : cases) {
    VectorStream s(npu_, dice_);
    const std::uint32_t cols = npu_.lanes() + 1;
    for (const std::uint32_t slot : {0U, 1U, 3U, kO0})
      add(s, window(slot, 4, cols, true, false));
    s.copy_in(*device_);
    isa::vector::Words words = isa::vector::encode(program);
    ASSERT_EQ(words.size(), 4U);
    c.spoil(words, s);
    device_->submit(s.commands(words, cols, 4, 100));
    const RunStatus status = device_->wait();
    EXPECT_EQ(status.error, isa::ErrorCode::VECTOR_FAULT) << c.what;
    EXPECT_EQ(status.error_index, s.vector_at()) << c.what;
    EXPECT_EQ(status.error_word, 100 + c.word + (static_cast<std::uint32_t>(c.code) << 16U)) << c.what;
    VectorCycles cycles(program, 2, 4, npu_.vector_groups);
    const std::uint64_t stopped =
        device_->read_counters()[isa::Counter::CYCLES] - device_->command_times()[s.vector_at()].start - 1;
    if (c.code != FaultCode::MASK) // whose lines are more than the program's
      EXPECT_EQ(stopped, static_cast<std::uint64_t>(c.word < 2 ? 3 : cycles.stop(c.word))) << c.what;
    device_->reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, VectorOnRtl, testing::Values("test8v2", "test6x10v1", "test8c2v8", "test512x16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace gradweave::test
