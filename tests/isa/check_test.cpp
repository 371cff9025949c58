// Every rule of dispatch: the legal limit passes, the first value beyond it gives the documented code.
#include "tests/isa/checked_commands.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>

namespace gradweave::isa::checked {
namespace {

TEST(Check, LegalCommandsPass) {
  EXPECT_EQ(check(add()), ErrorCode::NONE);
  EXPECT_EQ(check(load()), ErrorCode::NONE);
  EXPECT_EQ(load_with([](auto &d) { d.store = true; }), ErrorCode::NONE);
  EXPECT_EQ(check(gemm()), ErrorCode::NONE);
  EXPECT_EQ(check(SyncCommand{2}), ErrorCode::NONE);
}

TEST(Check, Opcode) {
  for (std::uint32_t opcode = 0; opcode < 256; ++opcode) {
    Command c;
    c.words.fill(0xFFFFFFFFU); // every later check would fail too
    c.set(field::OPCODE, opcode);
    const bool known = opcode >= 1 && opcode <= 8;
    EXPECT_EQ(check_command(c, limits()), known ? ErrorCode::ILLEGAL_FIELD : ErrorCode::ILLEGAL_OPCODE) << opcode;
  }
}

/// Flipping a reserved bit gives ILLEGAL_FIELD; which bits are reserved is recomputed here from the field lists.
template <std::size_t N> void expect_reserved_bits_checked(const Command &legal, const std::array<Field, N> &fields) {
  ASSERT_EQ(check_command(legal, limits()), ErrorCode::NONE);
  int reserved = 0;
  for (std::uint32_t word = 0; word < kCommandWords; ++word)
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      bool used = false;
      for (const Field &f : fields)
        used = used || (f.word == word && bit >= f.lsb && bit < f.lsb + f.width);
      if (used) continue;
      ++reserved;
      Command c = legal;
      c.words[word] ^= 1U << bit;
      EXPECT_EQ(check_command(c, limits()), ErrorCode::ILLEGAL_FIELD) << "word " << word << " bit " << bit;
    }
  EXPECT_GT(reserved, 0);
}

TEST(Check, ReservedBits) {
  Decoded d;
  d.op = load();
  expect_reserved_bits_checked(encode(d), kLOADFields);
  std::get<DmaCommand>(d.op).store = true;
  expect_reserved_bits_checked(encode(d), kSTOREFields);
  d.op = gemm();
  expect_reserved_bits_checked(encode(d), kGEMMFields);
  d.op = add();
  expect_reserved_bits_checked(encode(d), kADDFields);
  d.op = conv();
  expect_reserved_bits_checked(encode(d), kCONVFields);
  d.op = wgrad();
  expect_reserved_bits_checked(encode(d), kWGRADFields);
  d.op = SyncCommand{0};
  expect_reserved_bits_checked(encode(d), kSYNCFields);
}

TEST(Check, EngineFitsTheOpcode) {
  for (std::uint32_t engine = 0; engine < 256; ++engine) {
    const auto check_as = [&](const auto &op) {
      Decoded d;
      d.op = op;
      Command c = encode(d);
      c.set(field::ENGINE, engine);
      return check_command(c, limits()) == ErrorCode::NONE;
    };
    EXPECT_EQ(check_as(load()), engine == 0) << engine;
    EXPECT_EQ(check_as(gemm()), engine == 2) << engine;
    EXPECT_EQ(check_as(add()), engine == 2) << engine;
    EXPECT_EQ(check_as(SyncCommand{}), engine <= 2) << engine;
    EXPECT_EQ(check_as(SyncCommand{1, true}), engine == 1) << engine;
  }
  Limits two_cores = limits();
  two_cores.cores = 2;
  EXPECT_EQ(check(SyncCommand{3}, {}, two_cores), ErrorCode::NONE);
  EXPECT_EQ(check(SyncCommand{4}, {}, two_cores), ErrorCode::ILLEGAL_FIELD);
  for (const std::uint8_t core : {0, 1, 2, 253}) {
    const ErrorCode expected = core < 2 ? ErrorCode::NONE : ErrorCode::ILLEGAL_FIELD;
    GemmCommand g = gemm();
    AddCommand a = add();
    g.core = a.core = core;
    EXPECT_EQ(check(g, {}, two_cores), expected) << int{core};
    EXPECT_EQ(check(a, {}, two_cores), expected) << int{core};
  }
}

TEST(Check, Semaphores) {
  const auto with = [](const std::function<void(Sync &)> &change) {
    Sync s;
    change(s);
    return check(SyncCommand{0}, s);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(with([&](Sync &s) { s.posts[i] = 63; }), ErrorCode::NONE);
    EXPECT_EQ(with([&](Sync &s) { s.posts[i] = 64; }), ErrorCode::ILLEGAL_FIELD);
    EXPECT_EQ(with([&](Sync &s) { s.waits[i] = {63, 255}; }), ErrorCode::NONE);
    EXPECT_EQ(with([&](Sync &s) { s.waits[i] = {254, 1}; }), ErrorCode::ILLEGAL_FIELD);
    EXPECT_EQ(with([&](Sync &s) { s.waits[i] = {5, 0}; }), ErrorCode::ILLEGAL_FIELD);
    EXPECT_EQ(with([&](Sync &s) { s.waits[i] = {kNoSemaphore, 1}; }), ErrorCode::ILLEGAL_FIELD);
    const std::size_t j = (i + 1) % 3;
    EXPECT_EQ(with([&](Sync &s) { s.waits[i] = s.waits[j] = {5, 1}; }), ErrorCode::ILLEGAL_FIELD);
  }
  EXPECT_EQ(with([](Sync &s) { s.posts = {7, 7, 7}; }), ErrorCode::NONE) << "posts may repeat";
  EXPECT_EQ(with([](Sync &s) { s.waits = {Wait{1, 1}, Wait{2, 1}, Wait{3, 1}}; }), ErrorCode::NONE);
}

TEST(Check, SizesAreNotZero) {
  EXPECT_EQ(load_with([](auto &d) { d.rows = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(load_with([](auto &d) { d.cols = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.m = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.n = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.k = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.m = 0; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.n = 0; }), ErrorCode::ILLEGAL_FIELD);
}

TEST(Check, RotationsAreBelowLanes) {
  EXPECT_EQ(load_with([](auto &d) { d.spm.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.a.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.b.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.cin.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.cout.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.a.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cin.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cout.rot = kLanes; }), ErrorCode::ILLEGAL_FIELD);
}

TEST(Check, Fp32RowsAndPanelStridesAreEven) {
  const auto fp32 = [](DmaCommand &d) {
    d.fp32 = true;
    d.spm = {8, 8, 0};
  };
  EXPECT_EQ(load_with(fp32), ErrorCode::NONE);
  EXPECT_EQ(load_with([&](auto &d) { fp32(d), d.spm.row = 9; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(load_with([&](auto &d) { fp32(d), d.spm.pstride = 9; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(load_with([&](auto &d) { fp32(d), d.cols = 1, d.spm.pstride = 9; }), ErrorCode::ILLEGAL_FIELD)
      << "even for one panel";
  EXPECT_EQ(gemm_with([](auto &g) { g.cin.row = 31; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.cout.pstride = 25; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.out_bf16 = true, g.cout = {61, 25, 0}; }), ErrorCode::NONE);
  EXPECT_EQ(add_with([](auto &a) { a.a.row = 1; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.a.pstride = 25; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cin.row = 49; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cout.row = 1; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.out_bf16 = true, a.cout = {1, 13, 0}; }), ErrorCode::NONE);
}

TEST(Check, PanelStrideCoversThePanelIfThereAreSeveral) {
  EXPECT_EQ(load_with([](auto &d) { d.spm.pstride = 3; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(load_with([](auto &d) { d.cols = kLanes, d.spm.pstride = 3; }), ErrorCode::NONE);
  EXPECT_EQ(load_with([](auto &d) { d.fp32 = true, d.spm.pstride = 6; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([](auto &g) { g.a.pstride = 4; }), ErrorCode::ILLEGAL_FIELD) << "A is 5 x 12";
  EXPECT_EQ(gemm_with([](auto &g) { g.a_col = true, g.a.pstride = 4; }), ErrorCode::NONE) << "A is 12 x 5";
  EXPECT_EQ(gemm_with([](auto &g) { g.n = 11, g.b.pstride = 4; }), ErrorCode::ILLEGAL_FIELD) << "B is 5 x 11";
  EXPECT_EQ(gemm_with([](auto &g) {
              g.n = 11, g.b_col = true, g.cin = {0, 24, 0}, g.cout = {50, 24, 0};
            }),
            ErrorCode::NONE)
      << "B is 11 x 5";
  EXPECT_EQ(add_with([](auto &a) { a.a.pstride = 22; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cin.pstride = 22; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.cout.pstride = 22; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.out_bf16 = true, a.cout.pstride = 11; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(add_with([](auto &a) { a.n = kLanes, a.cin.pstride = 0; }), ErrorCode::NONE);
}

TEST(Check, InitialValuesAreZeroWithoutAcc) {
  const auto none = [](GemmCommand &g) {
    g.acc = false;
    g.cin = {};
  };
  EXPECT_EQ(gemm_with(none), ErrorCode::NONE);
  EXPECT_EQ(gemm_with([&](auto &g) { none(g), g.cin.row = 2; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([&](auto &g) { none(g), g.cin.rot = 1; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(gemm_with([&](auto &g) { none(g), g.cin.pstride = 2; }), ErrorCode::ILLEGAL_FIELD);
}

TEST(Check, TilesEndInsideTheScratchpad) {
  // Three panels of stride 4: the last row is ROW + 2 * 4 + 4 - 1.
  EXPECT_EQ(load_with([](auto &d) { d.spm.row = kSpmRows - 12; }), ErrorCode::NONE);
  EXPECT_EQ(load_with([](auto &d) { d.spm.row = kSpmRows - 11; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(load_with([](auto &d) { d.spm.pstride = 45, d.spm.row = 6; }), ErrorCode::NONE);
  EXPECT_EQ(load_with([](auto &d) { d.spm.pstride = 45, d.spm.row = 7; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(load_with([](auto &d) { d.cols = 65535, d.spm.pstride = kMaxSpmRows - 1; }), ErrorCode::SPM_RANGE)
      << "the sum must not wrap";
  EXPECT_EQ(gemm_with([](auto &g) { g.a.row = kSpmRows - 10; }), ErrorCode::NONE);
  EXPECT_EQ(gemm_with([](auto &g) { g.a.row = kSpmRows - 9; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(gemm_with([](auto &g) { g.b.row = kSpmRows - 4; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(gemm_with([](auto &g) { g.cin.row = kSpmRows - 24; }), ErrorCode::NONE);
  EXPECT_EQ(gemm_with([](auto &g) { g.cin.row = kSpmRows - 22; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(gemm_with([](auto &g) { g.cout.row = kSpmRows - 22; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(gemm_with([](auto &g) { g.out_bf16 = true, g.cout.row = kSpmRows - 12; }), ErrorCode::NONE);
  EXPECT_EQ(add_with([](auto &a) { a.a.row = kSpmRows - 48; }), ErrorCode::NONE);
  EXPECT_EQ(add_with([](auto &a) { a.a.row = kSpmRows - 46; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(add_with([](auto &a) { a.cin.row = kSpmRows - 46; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(add_with([](auto &a) { a.cout.row = kSpmRows - 46; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(add_with([](auto &a) { a.out_bf16 = true, a.cout.row = kSpmRows - 36; }), ErrorCode::NONE);
}

TEST(Check, DramAddressAndPitchAreAligned) {
  EXPECT_EQ(load_with([](auto &d) { d.dram_addr += 1; }), ErrorCode::DRAM_ALIGN);
  EXPECT_EQ(load_with([](auto &d) { d.pitch = 63; }), ErrorCode::DRAM_ALIGN);
  EXPECT_EQ(load_with([](auto &d) { d.rows = 1, d.pitch = 63; }), ErrorCode::NONE);
  const auto fp32 = [](DmaCommand &d) {
    d.fp32 = true;
    d.spm = {8, 8, 0};
  };
  EXPECT_EQ(load_with([&](auto &d) { fp32(d), d.dram_addr += 2; }), ErrorCode::DRAM_ALIGN);
  EXPECT_EQ(load_with([&](auto &d) { fp32(d), d.pitch = 66; }), ErrorCode::DRAM_ALIGN);
}

TEST(Check, RowsLieInsideTheDramWindow) {
  constexpr std::uint64_t kExtent = 3 * 64 + 25 * 2;
  EXPECT_EQ(load_with([](auto &d) { d.dram_addr = kBase - 2; }), ErrorCode::DRAM_RANGE);
  EXPECT_EQ(load_with([](auto &d) { d.dram_addr = kBase + kSize - kExtent; }), ErrorCode::NONE);
  EXPECT_EQ(load_with([](auto &d) { d.dram_addr = kBase + kSize - kExtent + 2; }), ErrorCode::DRAM_RANGE);
  EXPECT_EQ(load_with([](auto &d) { d.dram_addr = ~std::uint64_t{1}; }), ErrorCode::DRAM_RANGE);
  EXPECT_EQ(load_with([](auto &d) { d.rows = 1, d.cols = 1, d.pitch = 0xFFFFFFFE, d.dram_addr = kBase + kSize - 2; }),
            ErrorCode::NONE)
      << "the pitch of a single row is ignored";
  EXPECT_EQ(load_with([](auto &d) { d.pitch = 0xFFFFFFFE; }), ErrorCode::DRAM_RANGE);
}

TEST(Check, DramRangeDoesNotWrapAtTheEndOfTheAddressSpace) {
  Limits l = limits();
  l.dram_base = 0;
  l.dram_size = ~std::uint64_t{0};
  DmaCommand d = load();
  d.rows = 1;
  d.cols = 2;
  d.dram_addr = 0 - std::uint64_t{4};
  EXPECT_EQ(check(d, {}, l), ErrorCode::DRAM_RANGE) << "one byte beyond the window";
  d.dram_addr -= 2;
  EXPECT_EQ(check(d, {}, l), ErrorCode::NONE);
  l.dram_base = 2;
  d.cols = 4;
  EXPECT_EQ(check(d, {}, l), ErrorCode::DRAM_RANGE) << "an end beyond 2^64 is outside even if the window claims it";
}

TEST(Check, TheFirstFailingCheckIsReported) {
  DmaCommand d = load();
  d.dram_addr = 1; // misaligned and outside the window
  EXPECT_EQ(check(d), ErrorCode::DRAM_ALIGN);
  d.spm.row = kSpmRows;
  EXPECT_EQ(check(d), ErrorCode::SPM_RANGE);
  d.spm.rot = kLanes;
  EXPECT_EQ(check(d), ErrorCode::ILLEGAL_FIELD);
}

} // namespace
} // namespace gradweave::isa::checked
