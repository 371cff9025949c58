// Typed commands survive the binary form; values too large for a field are refused.
#include "isa/command.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gradweave::isa {
namespace {

TEST(Command, SetAndGetTouchOnlyTheField) {
  Command c;
  c.words.fill(0xFFFFFFFFU);
  c.set(field::WAIT0_COUNT, 0x12);
  EXPECT_EQ(c.words[2], 0xFFFF12FFU);
  EXPECT_EQ(c.get(field::WAIT0_COUNT), 0x12U);
  EXPECT_EQ(c.get(field::WAIT0_SEM), 0xFFU);
  c.set(field::DRAM_ADDR_LO, 0xDEADBEEFU);
  EXPECT_EQ(c.get(field::DRAM_ADDR_LO), 0xDEADBEEFU);
}

TEST(Command, ValueTooLargeForItsFieldNamesTheField) {
  Command c;
  try {
    c.set(field::SPM_ROW, 1U << 23U);
    FAIL() << "accepted 24 bits";
  } catch (const std::out_of_range &e) {
    EXPECT_NE(std::string(e.what()).find("SPM_ROW holds at most 8388607"), std::string::npos) << e.what();
  }
}

TEST(Command, FieldsOfAnOpcodeDoNotOverlap) {
  const auto disjoint = [](const auto &fields) {
    std::array<std::uint32_t, kCommandWords> seen{};
    for (const Field &f : fields) {
      const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << f.width) - 1) << f.lsb);
      if ((seen[f.word] & mask) != 0 || f.lsb + f.width > 32) return false;
      seen[f.word] |= mask;
    }
    return true;
  };
  EXPECT_TRUE(disjoint(kLOADFields));
  EXPECT_TRUE(disjoint(kSTOREFields));
  EXPECT_TRUE(disjoint(kGEMMFields));
  EXPECT_TRUE(disjoint(kSYNCFields));
  EXPECT_TRUE(disjoint(kPROGRAMFields));
  EXPECT_TRUE(disjoint(kTILEFields));
  EXPECT_TRUE(disjoint(kVECTORFields));
}

TEST(Command, TilesOfATileCommandHaveTheSameFieldsFourWordsApart) {
  std::vector<Field> tiles[3];
  for (const Field &f : kTILEFields)
    if (f.name[0] == 'T' && f.name[2] == '_') tiles[f.name[1] - '0'].push_back(f);
  for (std::size_t t = 1; t < 3; ++t) {
    ASSERT_EQ(tiles[t].size(), tiles[0].size());
    for (std::size_t i = 0; i < tiles[0].size(); ++i) {
      EXPECT_EQ(tiles[t][i].name.substr(2), tiles[0][i].name.substr(2));
      EXPECT_EQ(tiles[t][i].word, tiles[0][i].word + 4 * t);
      EXPECT_EQ(tiles[t][i].lsb, tiles[0][i].lsb);
      EXPECT_EQ(tiles[t][i].width, tiles[0][i].width);
    }
  }
}

TEST(Command, EnginesHavePlacesBehindThoseOfCores) {
  for (std::uint32_t cores = 1; cores <= 8; ++cores)
    for (std::uint32_t place = 0; place < 2 + 2 * cores; ++place)
      EXPECT_EQ(engine_place(engine_at(place, cores), cores), place);
  EXPECT_EQ(engine_at(3, 1), 10);
  EXPECT_EQ(engine_place(11, 2), 5U);
  EXPECT_EQ(engine_place(3, 1), ~0U);
  EXPECT_EQ(engine_place(9, 7), ~0U);
}

TEST(Command, EngineFollowsTheOperation) {
  Decoded d;
  d.op = DmaCommand{};
  EXPECT_EQ(d.engine(), 0);
  std::get<DmaCommand>(d.op).store = true;
  EXPECT_EQ(d.engine(), 1);
  GemmCommand g;
  g.core = 3;
  d.op = g;
  EXPECT_EQ(d.engine(), 5);
  d.op = SyncCommand{1};
  EXPECT_EQ(d.engine(), 1);
  ProgramCommand program;
  program.unit = 2;
  d.op = program;
  EXPECT_EQ(d.engine(), 12);
  d.op = TileCommand{};
  EXPECT_EQ(d.engine(), 10);
  d.op = VectorCommand{7, 0, 1, 1};
  EXPECT_EQ(d.engine(), 17);
}

TEST(Command, EncodePutsEveryFieldInItsPlace) {
  Decoded d;
  DmaCommand dma;
  dma.fp32 = true;
  dma.dram_addr = 0x1122334455667788U;
  dma.pitch = 0x01020304;
  dma.rows = 7;
  dma.cols = 9;
  dma.spm = {0xABCDE, 0x12345, 44};
  d.op = dma;
  d.sync.waits[0] = {1, 2};
  d.sync.posts[1] = 6;
  d.tag = 0xBEEF;
  const Command c = encode(d);
  EXPECT_EQ(c.get(field::OPCODE), 1U);
  EXPECT_EQ(c.get(field::FP32), 1U);
  EXPECT_EQ(c.get(field::DRAM_ADDR_LO), 0x55667788U);
  EXPECT_EQ(c.get(field::DRAM_ADDR_HI), 0x11223344U);
  EXPECT_EQ(c.get(field::PITCH), 0x01020304U);
  EXPECT_EQ(c.get(field::SPM_ROT), 44U);
  EXPECT_EQ(c.get(field::SPM_PSTRIDE), 0x12345U);
  EXPECT_EQ(c.get(field::WAIT0_COUNT), 2U);
  EXPECT_EQ(c.get(field::WAIT1_SEM), 255U);
  EXPECT_EQ(c.get(field::POST1), 6U);
  EXPECT_EQ(c.get(field::TAG), 0xBEEFU);
}

TEST(Command, EncodeRefusesValuesThatDoNotFit) {
  Decoded d;
  GemmCommand g;
  g.k = 65536;
  d.op = g;
  EXPECT_THROW(encode(d), std::out_of_range);
}

TEST(Command, SignedFieldsAreTwosComplement) {
  Decoded d;
  ConvCommand v;
  v.image.off_y = -128;
  v.image.off_x = 127;
  v.image.step_y = -1;
  d.op = v;
  const Command c = encode(d);
  EXPECT_EQ(c.get(field::OFF_Y), 0x80U);
  EXPECT_EQ(c.get(field::OFF_X), 0x7FU);
  EXPECT_EQ(c.get(field::STEP_Y), 0xFFU);
  EXPECT_EQ(std::get<ConvCommand>(decode(c)->op).image.off_y, -128);
  for (const std::int32_t value : {-129, 128}) {
    v.image.off_y = value;
    d.op = v;
    EXPECT_THROW(encode(d), std::out_of_range) << value;
  }
}

/// Decoding and encoding keeps exactly the bits that the opcode's fields cover.
TEST(Command, RandomBitsSurviveDecodeAndEncode) {
  constexpr std::uint64_t kSeed = 1;
  RecordProperty("seed", static_cast<int>(kSeed));
  std::mt19937 random(kSeed);
  for (int i = 0; i < 20000; ++i) {
    Command c;
    for (auto &w : c.words)
      w = random();
    c.set(field::OPCODE, 1 + random() % 8);
    const auto op = static_cast<Opcode>(c.get(field::OPCODE));
    if (op == Opcode::LOAD) c.set(field::ENGINE, 0);
    if (op == Opcode::STORE) c.set(field::ENGINE, 1);
    const Command back = encode(*decode(c));
    const auto same = [&](const auto &fields) {
      for (const Field &f : fields)
        ASSERT_EQ(back.get(f), c.get(f)) << f.name;
    };
    if (op == Opcode::LOAD) same(kLOADFields);
    if (op == Opcode::STORE) same(kSTOREFields);
    if (op == Opcode::GEMM) same(kGEMMFields);
    if (op == Opcode::ADD) same(kADDFields);
    if (op == Opcode::CONV) same(kCONVFields);
    if (op == Opcode::WGRAD) same(kWGRADFields);
    if (op == Opcode::SYNC) same(kSYNCFields);
    if (op == Opcode::MARK) same(kMARKFields);
    EXPECT_EQ(encode(*decode(back)), back);
  }
}

TEST(Command, ATileOfTheVectorUnitKeepsEveryBitOfItsPlace) {
  TileCommand tile;
  tile.tiles[1].slot = 2;
  tile.tiles[1].spm = {kMaxSpmRows, kMaxSpmRows - 1, kMaxLanes - 1};
  tile.tiles[1].col = kMaxLanes - 1;
  Decoded d;
  d.op = tile;
  const VectorTile back = std::get<TileCommand>(decode(encode(d))->op).tiles[1];
  EXPECT_EQ(back.spm.row, kMaxSpmRows);
  EXPECT_EQ(back.spm.pstride, kMaxSpmRows - 1);
  EXPECT_EQ(back.spm.rot, kMaxLanes - 1);
  EXPECT_EQ(back.col, kMaxLanes - 1);
}

TEST(Command, UnknownOpcodeDoesNotDecode) {
  Command c;
  for (std::uint32_t opcode : {0U, 12U, 255U}) {
    c.set(field::OPCODE, opcode);
    EXPECT_FALSE(decode(c)) << opcode;
  }
}

} // namespace
} // namespace gradweave::isa
