// The rules of dispatch for the vector unit's commands: the legal limit passes, the first value beyond it does not.
#include "isa/command.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace gradweave::isa::vector_check {
namespace {

Limits limits(std::uint32_t vectors = 2) {
  Limits l;
  l.lanes = 10;
  l.spm_rows = 100;
  l.cores = 2;
  l.vectors = vectors;
  return l;
}

template <typename Op> ErrorCode check(const Op &op, const Limits &l = limits()) {
  Decoded d;
  d.op = op;
  return check_command(encode(d), l);
}

ProgramCommand program() {
  ProgramCommand p;
  p.at = 8;
  p.count = 2;
  p.words = {1, ~std::uint64_t{0}};
  return p;
}

TileCommand tiles() {
  TileCommand t;
  t.tiles[0] = {3, {20, 8, 9}, 9, 8, 12, false, true, true, true}; // columns 9 to 20 of three panels
  t.tiles[1] = {8, {50, 16, 0}, 0, 8, 20, true, false, false, true};
  return t;
}

template <typename Op> ErrorCode after(Op op, const std::function<void(Op &)> &change) {
  change(op);
  return check(op);
}
ErrorCode tile_with(const std::function<void(VectorTile &)> &change, std::size_t which = 0) {
  return after<TileCommand>(tiles(), [&](TileCommand &t) { change(t.tiles[which]); });
}
ErrorCode program_with(const std::function<void(ProgramCommand &)> &change) {
  return after<ProgramCommand>(program(), change);
}

TEST(VectorCheck, CommandsAreThoseOfAnNpuThatHasAVectorUnit) {
  EXPECT_EQ(check(program()), ErrorCode::NONE);
  EXPECT_EQ(check(tiles()), ErrorCode::NONE);
  EXPECT_EQ(check(VectorCommand{0, 1023, 65535, 65535}), ErrorCode::NONE);
  EXPECT_EQ(check(program(), limits(0)), ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(check(tiles(), limits(0)), ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(check(VectorCommand{0, 0, 1, 1}, limits(0)), ErrorCode::ILLEGAL_OPCODE);
  for (const std::uint8_t unit : {0, 1})
    EXPECT_EQ(check(VectorCommand{unit, 0, 1, 1}), ErrorCode::NONE);
  for (const std::uint8_t unit : {2, 255, 246, 247, 248}) // engines 12, 9, 0, 1, 2
    EXPECT_EQ(check(VectorCommand{unit, 0, 1, 1}), ErrorCode::ILLEGAL_FIELD) << int(unit);
}

TEST(VectorCheck, SyncMayBeOnAnyEngine) {
  for (const std::uint8_t engine : {0, 1, 2, 3, 10, 11})
    EXPECT_EQ(check(SyncCommand{engine}), ErrorCode::NONE) << int(engine);
  for (const std::uint8_t engine : {4, 9, 12, 255})
    EXPECT_EQ(check(SyncCommand{engine}), ErrorCode::ILLEGAL_FIELD) << int(engine);
  EXPECT_EQ(check(SyncCommand{10}, limits(0)), ErrorCode::ILLEGAL_FIELD);
}

TEST(VectorCheck, ProgramsFitTheMemory) {
  EXPECT_EQ(program_with([](auto &p) { p.count = 0, p.words = {}; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.count = 6; }), ErrorCode::NONE);
  EXPECT_EQ(program_with([](auto &p) { p.count = 7; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.count = 1; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.words[5] = 1; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.words[2] = std::uint64_t{1} << 63U; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.at = 1022; }), ErrorCode::NONE);
  EXPECT_EQ(program_with([](auto &p) { p.at = 1023; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(program_with([](auto &p) { p.at = 65535; }), ErrorCode::ILLEGAL_FIELD);
}

TEST(VectorCheck, TilesLieInTheScratchpad) {
  const std::function<void(VectorTile &)> bad[] = {
      [](auto &t) { t.slot = 9; },
      [](auto &t) { t.slot = 14; },
      [](auto &t) { t.slot = 5; }, // a result that repeats its element
      [](auto &t) { t.rows = 0; },
      [](auto &t) { t.cols = 0; },
      [](auto &t) { t.col = 10; },
      [](auto &t) { t.spm.rot = 10; },
      [](auto &t) { t.spm.pstride = 7; },
      [](auto &t) { t.fp32 = true, t.spm.pstride = 15; },
      [](auto &t) { t.cols = 65527, t.spm.pstride = 8; },
      [](auto &t) { t.slot = kNoSlot; },
  };
  for (std::size_t i = 0; i < std::size(bad); ++i)
    EXPECT_EQ(tile_with(bad[i]), ErrorCode::ILLEGAL_FIELD) << i;
  EXPECT_EQ(tile_with([](auto &t) { t = {}; }), ErrorCode::NONE);
  const std::function<void(VectorTile &)> unused[] = {
      [](auto &t) { t.spm.row = 1; },      [](auto &t) { t.spm.rot = 1; },   [](auto &t) { t.spm.pstride = 1; },
      [](auto &t) { t.col = 1; },          [](auto &t) { t.rows = 1; },      [](auto &t) { t.cols = 1; },
      [](auto &t) { t.fp32 = true; },      [](auto &t) { t.by_col = true; }, [](auto &t) { t.same_element = true; },
      [](auto &t) { t.same_step = true; },
  };
  for (std::size_t i = 0; i < std::size(unused); ++i)
    EXPECT_EQ(tile_with(unused[i], 2), ErrorCode::ILLEGAL_FIELD) << i;
  // 20 columns from column 9 on end in the third panel: row 20 + 2 x 8 + 8 = 44.
  EXPECT_EQ(tile_with([](auto &t) { t.spm.row = 76; }), ErrorCode::NONE);
  EXPECT_EQ(tile_with([](auto &t) { t.spm.row = 77; }), ErrorCode::SPM_RANGE);
  EXPECT_EQ(tile_with([](auto &t) { t.col = 8, t.spm.row = 84; }), ErrorCode::NONE);
  // One panel, of which no stride is asked.
  EXPECT_EQ(tile_with([](auto &t) { t.cols = 1, t.spm.pstride = 0, t.spm.row = 92; }), ErrorCode::NONE);
  EXPECT_EQ(tile_with([](auto &t) { t.cols = 2, t.spm.pstride = 0, t.spm.row = 92; }), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(tile_with([](auto &t) { t.spm.row = 51; }, 1), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(tile_with([](auto &t) { t.spm.row = 70; }, 1), ErrorCode::SPM_RANGE);
  EXPECT_EQ(tile_with([](auto &t) { t.spm.row = 68; }, 1), ErrorCode::NONE);
  // Of several faults ILLEGAL_FIELD comes first, in whichever tile it is.
  EXPECT_EQ(after<TileCommand>(tiles(), [](auto &t) { t.tiles[0].spm.row = 77, t.tiles[1].rows = 0; }),
            ErrorCode::ILLEGAL_FIELD);
}

TEST(VectorCheck, VectorsHaveASize) {
  EXPECT_EQ(check(VectorCommand{0, 1024, 1, 1}), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(check(VectorCommand{0, 0, 0, 1}), ErrorCode::ILLEGAL_FIELD);
  EXPECT_EQ(check(VectorCommand{0, 0, 1, 0}), ErrorCode::ILLEGAL_FIELD);
}

} // namespace
} // namespace gradweave::isa::vector_check
