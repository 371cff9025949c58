// cmd_check against isa::check_command(), the same decision in C++, on random commands.
#include GW_MODEL_HEADER

#include "random_command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

namespace {

using namespace gradweave;
using test::RandomCommand;

constexpr std::uint64_t kSeed = 20260;
constexpr std::uint64_t kCommands = 1'000'000; // of each kind

class Checker {
public:
  explicit Checker(const isa::Limits &limits) {
    model_->en_i = 1;
    model_->dram_base_i = limits.dram_base;
    model_->dram_size_i = limits.dram_size;
  }
  isa::ErrorCode operator()(const isa::Command &c) {
    for (std::size_t i = 0; i < isa::kCommandWords; ++i)
      model_->cmd_i[i] = c.words[i];
    model_->eval();
    return static_cast<isa::ErrorCode>(model_->error_o);
  }

private:
  std::unique_ptr<GW_MODEL> model_ = std::make_unique<GW_MODEL>();
};

isa::Limits limits_of(std::uint64_t base, std::uint64_t size) {
  isa::Limits l;
  l.lanes = GW_LANES;
  l.spm_rows = GW_SPM_ROWS;
  l.cores = GW_CORES;
  l.semaphores = GW_SEMAPHORES;
  l.vectors = GW_VECTORS;
  l.dram_base = base;
  l.dram_size = size;
  return l;
}

const std::array<isa::Limits, 4> kWindows{
    limits_of(0, std::uint64_t{1} << 30), limits_of(0x1'2345'6780, 0x7'0000'0002),
    limits_of(~std::uint64_t{0} - 0xFFFFFF, 0x1000000),   // up to the end of the address space
    limits_of(~std::uint64_t{0} - 0xFFFFFF, 0x100000000), // described beyond it
};

std::string text(const isa::Command &c) {
  std::string s;
  for (std::uint32_t word : c.words)
    s += fmt::format(" {:08x}", word);
  return s;
}

using Tally = std::array<std::uint64_t, isa::kErrorNames.size()>;

/// Compares the two on `commands` commands from `next`; false at the first difference.
template <class Next>
testing::AssertionResult agree(const isa::Limits &limits, std::uint64_t commands, Next next, Tally &tally) {
  Checker rtl(limits);
  for (std::uint64_t i = 0; i < commands; ++i) {
    const isa::Command c = next();
    const isa::ErrorCode want = isa::check_command(c, limits);
    const isa::ErrorCode got = rtl(c);
    ++tally[static_cast<std::size_t>(want)];
    if (got != want)
      return testing::AssertionFailure() << fmt::format("command {}: RTL says {}, C++ {}; words{}", i,
                                                        isa::kErrorNames[static_cast<std::size_t>(got)],
                                                        isa::kErrorNames[static_cast<std::size_t>(want)], text(c));
  }
  return testing::AssertionSuccess();
}

std::uint64_t count(const Tally &tally, isa::ErrorCode code) { return tally[static_cast<std::size_t>(code)]; }

TEST(CommandCheck, LegalCommandsPass) {
  for (std::size_t w = 0; w < 3; ++w) {
    RandomCommand random(kWindows[w], kSeed + w);
    Tally tally{};
    EXPECT_TRUE(agree(
        kWindows[w], kCommands / 3, [&] { return random.legal(); }, tally))
        << "seed " << kSeed + w;
    EXPECT_EQ(count(tally, isa::ErrorCode::NONE), kCommands / 3) << "seed " << kSeed + w;
  }
}

/// ENGINE beyond the cores is refused for every opcode that names a core, and what is no vector unit for its commands.
TEST(CommandCheck, EngineEndsWithTheCores) {
  isa::GemmCommand gemm;
  gemm.m = gemm.n = gemm.k = 1;
  isa::AddCommand add;
  add.m = add.n = 1;
  add.a = add.cin = add.cout = {0, 2, 0};
  isa::ConvCommand conv;
  conv.product = gemm;
  isa::ConvCommand wgrad = conv;
  wgrad.weights = true;
  using Op = decltype(isa::Decoded::op);
  isa::ProgramCommand program;
  program.count = 1;
  Checker rtl(kWindows[0]);
  for (std::uint32_t engine = 0; engine < 256; ++engine)
    for (const Op &op : {Op(gemm), Op(add), Op(conv), Op(wgrad), Op(isa::SyncCommand{}), Op(program),
                         Op(isa::TileCommand{}), Op(isa::VectorCommand{0, 0, 1, 1})}) {
      isa::Decoded d;
      d.op = op;
      isa::Command c = isa::encode(d);
      c.set(isa::field::ENGINE, engine);
      const bool sync = std::holds_alternative<isa::SyncCommand>(op);
      const bool for_unit = c.get(isa::field::OPCODE) >= static_cast<std::uint32_t>(isa::Opcode::PROGRAM);
      const bool is_unit = engine >= 10 && engine < 10 + GW_VECTORS;
      const bool legal = for_unit ? is_unit : (engine < 2 + GW_CORES && (sync || engine >= 2)) || (sync && is_unit);
      const isa::ErrorCode refused =
          for_unit && GW_VECTORS == 0 ? isa::ErrorCode::ILLEGAL_OPCODE : isa::ErrorCode::ILLEGAL_FIELD;
      EXPECT_EQ(rtl(c), legal ? isa::ErrorCode::NONE : refused)
          << "engine " << engine << " opcode " << c.get(isa::field::OPCODE);
    }
}

TEST(CommandCheck, OneWrongFieldIsJudgedAlike) {
  Tally tally{};
  for (std::size_t w = 0; w < kWindows.size(); ++w) {
    const isa::Limits reachable = kWindows[w == 3 ? 2 : w];
    RandomCommand random(reachable, kSeed + w);
    EXPECT_TRUE(agree(
        kWindows[w], kCommands / 4, [&] { return random.with_mutated_field(); }, tally))
        << "seed " << kSeed + w;
  }
  for (isa::ErrorCode code : {isa::ErrorCode::NONE, isa::ErrorCode::ILLEGAL_OPCODE, isa::ErrorCode::ILLEGAL_FIELD,
                              isa::ErrorCode::SPM_RANGE, isa::ErrorCode::DRAM_ALIGN, isa::ErrorCode::DRAM_RANGE})
    EXPECT_GT(count(tally, code), 100U) << isa::kErrorNames[static_cast<std::size_t>(code)] << " is hardly reached";
}

TEST(CommandCheck, FlippedBitsAreJudgedAlike) {
  RandomCommand random(kWindows[1], kSeed);
  Tally tally{};
  EXPECT_TRUE(agree(
      kWindows[1], kCommands, [&] { return random.with_flipped_bits(); }, tally))
      << "seed " << kSeed;
}

TEST(CommandCheck, NoiseIsJudgedAlike) {
  RandomCommand random(kWindows[0], kSeed);
  Tally tally{};
  EXPECT_TRUE(agree(
      kWindows[0], kCommands, [&] { return random.noise(); }, tally))
      << "seed " << kSeed;
}

TEST(CommandCheck, ComparisonSeesADifferentRule) {
  isa::Limits other = kWindows[0];
  other.spm_rows -= 1;
  RandomCommand random(kWindows[0], kSeed);
  Checker rtl(kWindows[0]);
  std::uint64_t differences = 0;
  for (int i = 0; i < 10000; ++i) {
    const isa::Command c = random.legal();
    differences += rtl(c) != isa::check_command(c, other);
  }
  EXPECT_GT(differences, 0U) << "a scratchpad smaller by a row must make a difference";
}

TEST(CommandCheck, NothingIsReportedWhenDisabled) {
  GW_MODEL model;
  model.en_i = 0;
  model.eval();
  EXPECT_EQ(model.error_o, 0U);
}

} // namespace
