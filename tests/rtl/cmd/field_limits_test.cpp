// Every field of every command at both ends of what it may hold, and a step beyond: cmd_check and isa::check_command()
// against a table. The fields come from isa.toml: one that the table does not know fails. Then pairs of fields at
// powers of two, where sums and products outgrow a width that is too narrow.
#include GW_MODEL_HEADER

#include "isa/command.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace gradweave;
using isa::ErrorCode;
using isa::Field;

constexpr std::uint64_t kWindow = ~std::uint64_t{0}; // all of the address space but its last byte

isa::Limits limits() { return {GW_LANES, GW_SPM_ROWS, GW_CORES, GW_SEMAPHORES, 0, kWindow, GW_VECTORS}; }

class Judge {
public:
  Judge() {
    rtl_->en_i = 1;
    rtl_->dram_base_i = 0;
    rtl_->dram_size_i = kWindow;
  }
  ErrorCode rtl(const isa::Command &c) {
    for (std::size_t i = 0; i < isa::kCommandWords; ++i)
      rtl_->cmd_i[i] = c.words[i];
    rtl_->eval();
    return static_cast<ErrorCode>(rtl_->error_o);
  }

private:
  std::unique_ptr<GW_MODEL> rtl_ = std::make_unique<GW_MODEL>();
};

/// A legal command of an opcode, of one element a tile, and the fields that isa.toml gives the opcode.
struct Kind {
  isa::Command command;
  std::vector<Field> fields;
};

template <class Fields> Kind kind(decltype(isa::Decoded::op) op, const Fields &fields) {
  isa::Decoded d;
  d.op = op;
  return {isa::encode(d), {fields.begin(), fields.end()}};
}

std::vector<Kind> kinds() {
  isa::DmaCommand load;
  load.rows = load.cols = 1;
  load.spm.pstride = 2;
  isa::DmaCommand store = load;
  store.store = true;
  isa::GemmCommand gemm;
  gemm.m = gemm.n = gemm.k = 1;
  gemm.acc = true;
  gemm.a.pstride = gemm.b.pstride = 2;
  isa::AddCommand add;
  add.m = add.n = 1;
  isa::ConvCommand conv;
  conv.product = gemm;
  conv.product.a_col = true;
  isa::ConvCommand wgrad = conv;
  wgrad.weights = true;
  wgrad.product.a_col = false;
  std::vector<Kind> all{kind(load, isa::kLOADFields),
                        kind(store, isa::kSTOREFields),
                        kind(gemm, isa::kGEMMFields),
                        kind(add, isa::kADDFields),
                        kind(isa::SyncCommand{}, isa::kSYNCFields),
                        kind(isa::SyncCommand{1, true}, isa::kMARKFields),
                        kind(conv, isa::kCONVFields),
                        kind(wgrad, isa::kWGRADFields)};
  if (GW_VECTORS == 0) return all;
  isa::ProgramCommand program;
  program.count = 6;
  isa::TileCommand tiles;
  for (std::uint32_t i = 0; i < 3; ++i) {
    tiles.tiles[i].slot = i;
    tiles.tiles[i].rows = tiles.tiles[i].cols = 1;
    tiles.tiles[i].spm.pstride = 2;
  }
  all.push_back(kind(program, isa::kPROGRAMFields));
  all.push_back(kind(tiles, isa::kTILEFields));
  all.push_back(kind(isa::VectorCommand{0, 0, 1, 1}, isa::kVECTORFields));
  return all;
}

struct Range {
  std::uint64_t lowest = 0, highest = 0, step = 1;
  ErrorCode above = ErrorCode::ILLEGAL_FIELD;
};

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

/// What a field of the scratchpad's tiles may hold in the commands of kinds(), by the end of its name.
Range tile_range(std::string_view name, std::uint64_t top, bool fp32) {
  const std::uint64_t step = fp32 ? 2 : 1;
  if (ends(name, "_ROT")) return {0, GW_LANES - 1};
  if (ends(name, "_ROW")) return {0, GW_SPM_ROWS - step, step, ErrorCode::SPM_RANGE};
  return {0, top - (step - 1), step};
}

Range engine_range(isa::Opcode opcode) {
  if (opcode == isa::Opcode::LOAD) return {0, 0};
  if (opcode == isa::Opcode::STORE || opcode == isa::Opcode::MARK) return {1, 1};
  if (opcode >= isa::Opcode::PROGRAM) return {10, 9 + GW_VECTORS};
  return {opcode == isa::Opcode::SYNC ? 0U : 2U, 1 + GW_CORES};
}

/// What a field of an image may hold: in kinds() it has one pixel in a grid of one, and a kernel of one tap.
const std::pair<std::string_view, Range> kImageRanges[] = {
    {"GRID_W", {1, 2047}},
    {"GRID_H", {1, 1023}},
    {"GRID_Y", {0, 0}},
    {"IMG_W", {1, 1}},
    {"IMG_H", {1, 1}},
    {"OUT_W", {1, 1}},
    {"OUT_H", {1, 1}},
    {"TAPS_Y", {1, 15}},
    {"TAPS_X", {1, 15}},
    {"STRIDE", {1, 3}},
    {"STEP_Y", {0, 255}},
    {"STEP_X", {0, 255}},
    {"OFF_Y", {0, std::min(127, GW_SPM_ROWS - 1), 1, ErrorCode::SPM_RANGE}}, // further on it is below zero
    {"OFF_X", {0, std::min(127, GW_SPM_ROWS - 1), 1, ErrorCode::SPM_RANGE}},
    {"PLANE", {0, (1U << 20U) - 1}},
    {"PACKED", {0, 1}},
    {"B_TAP", {0, 65535}},
};

/// The vector unit's own; those of a TILE without its number.
const std::pair<std::string_view, Range> kVectorRanges[] = {
    {"AT", {0, isa::kProgramWords - 6}},
    {"COUNT", {1, 6}},
    {"FIRST", {0, isa::kProgramWords - 1}},
    {"ELEMENTS", {1, 65535}},
    {"STEPS", {1, 65535}},
    {"T_SLOT", {0, isa::kSlots - 1}},
    {"T_COL", {0, GW_LANES - 1}},
    {"T_ROWS", {1, GW_SPM_ROWS, 1, ErrorCode::SPM_RANGE}},
    {"T_COLS", {1, std::min(65535, GW_LANES *((GW_SPM_ROWS + 1) / 2)), 1, ErrorCode::SPM_RANGE}},
};

/// The table: what a field may hold if the rest is as in kinds(). Fails for a field that it does not know.
Range range_of(isa::Opcode opcode, const Field &f, std::uint64_t top) {
  const std::string_view name = f.name;
  const bool add = opcode == isa::Opcode::ADD;
  const auto code = static_cast<std::uint64_t>(opcode);
  for (const auto &[field, range] : kImageRanges)
    if (name == field) return range;
  const bool of_tile = name.size() > 2 && name[0] == 'T' && name[2] == '_';
  const std::string plain = of_tile ? "T" + std::string(name.substr(2)) : std::string(name);
  for (const auto &[field, range] : kVectorRanges)
    if (plain == field) return range;
  if (name == "OPCODE") return {code, code, 256};
  if (name == "ENGINE") return engine_range(opcode);
  if (name[0] == 'W' && name[2] == '_') return {0, top}; // words of a program
  if (f.width == 1 || name == "TAG" || name == "PITCH" || name == "DRAM_ADDR_HI") return {0, top};
  if (name == "DRAM_ADDR_LO") return {0, top - 1, 2};
  if (starts(name, "POST")) return {0, GW_SEMAPHORES == 255 ? 255 : GW_SEMAPHORES - 1}; // 255 is none
  if (starts(name, "WAIT") && ends(name, "_SEM")) return {0, GW_SEMAPHORES - 1};
  if (starts(name, "WAIT") && ends(name, "_COUNT")) return {1, 255};
  if (name == "ROWS" || name == "K") return {1, GW_SPM_ROWS, 1, ErrorCode::SPM_RANGE};
  if (name == "COLS")
    return {1, std::min<std::uint64_t>(top, GW_LANES * ((GW_SPM_ROWS + 1) / 2)), 1, ErrorCode::SPM_RANGE};
  if (name == "M") return {1, GW_SPM_ROWS / 2, 1, ErrorCode::SPM_RANGE};
  if (name == "N") return {1, GW_LANES};
  if (starts(name, "SPM_") || starts(name, "A_") || starts(name, "B_") || of_tile) return tile_range(name, top, add);
  if (starts(name, "CIN_") || starts(name, "COUT_")) return tile_range(name, top, true);
  ADD_FAILURE() << "field " << name
                << " of isa.toml has no limits in tests/rtl/cmd/field_limits_test.cpp: add them to range_of()";
  return {};
}

/// What else a wait needs to be one.
void complete_wait(isa::Command &c, const Field &f) {
  const std::pair<Field, Field> waits[] = {{isa::field::WAIT0_SEM, isa::field::WAIT0_COUNT},
                                           {isa::field::WAIT1_SEM, isa::field::WAIT1_COUNT},
                                           {isa::field::WAIT2_SEM, isa::field::WAIT2_COUNT}};
  for (const auto &[sem, count] : waits)
    if (f.name == sem.name)
      c.set(count, 1);
    else if (f.name == count.name)
      c.set(sem, 0);
}

TEST(FieldLimits, EachFieldAtBothEndsAndBeyond) {
  Judge judge;
  for (const Kind &kind : kinds())
    for (const Field &f : kind.fields) {
      const auto opcode = static_cast<isa::Opcode>(kind.command.get(isa::field::OPCODE));
      const std::uint64_t top = (std::uint64_t{1} << f.width) - 1;
      const Range range = range_of(opcode, f, top);
      isa::Command c = kind.command;
      complete_wait(c, f);
      const auto expect = [&](std::uint64_t value, ErrorCode want) {
        c.set(f, static_cast<std::uint32_t>(value));
        const auto place = [&] { return fmt::format("opcode {} {} = {}", static_cast<int>(opcode), f.name, value); };
        EXPECT_EQ(judge.rtl(c), want) << "RTL: " << place();
        EXPECT_EQ(isa::check_command(c, limits()), want) << "C++: " << place();
      };
      expect(range.lowest, ErrorCode::NONE);
      expect(range.highest, ErrorCode::NONE);
      if (range.highest + range.step <= top) expect(range.highest + range.step, range.above);
      if (range.lowest > 0 && range.step == 1) expect(range.lowest - 1, ErrorCode::ILLEGAL_FIELD);
    }
}

TEST(FieldLimits, OpcodesEndWithTheLast) {
  Judge judge;
  for (std::uint32_t opcode : {0U, static_cast<std::uint32_t>(kinds().size()) + 1, 255U}) {
    isa::Command c;
    c.set(isa::field::OPCODE, opcode);
    EXPECT_EQ(judge.rtl(c), ErrorCode::ILLEGAL_OPCODE) << opcode;
    EXPECT_EQ(isa::check_command(c, limits()), ErrorCode::ILLEGAL_OPCODE) << opcode;
  }
}

/// 0, the powers of two, and one more than each: panels and rows begin there.
std::vector<std::uint32_t> borders(const Field &f) {
  std::vector<std::uint32_t> values{0, static_cast<std::uint32_t>((std::uint64_t{1} << f.width) - 1)};
  for (std::uint32_t bit = 0; bit < f.width; ++bit) {
    values.push_back(1U << bit);
    if (bit > 0) values.push_back((1U << bit) + 1);
  }
  return values;
}

/// A product of two fields reaches each power of two: a tile that wraps to the scratchpad's beginning is none that
/// fits.
TEST(FieldLimits, PairsAtPowersOfTwoAreJudgedAlike) {
  Judge judge;
  for (const Kind &kind : kinds())
    for (std::size_t i = 1; i < kind.fields.size(); ++i) // not the opcode
      for (std::size_t j = i + 1; j < kind.fields.size(); ++j)
        for (std::uint32_t x : borders(kind.fields[i]))
          for (std::uint32_t y : borders(kind.fields[j])) {
            isa::Command c = kind.command;
            c.set(kind.fields[i], x);
            c.set(kind.fields[j], y);
            ASSERT_EQ(judge.rtl(c), isa::check_command(c, limits()))
                << fmt::format("opcode {} {} = {:#x} {} = {:#x}", c.get(isa::field::OPCODE), kind.fields[i].name, x,
                               kind.fields[j].name, y);
          }
}

} // namespace
