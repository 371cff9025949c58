// Typed commands to and from their binary form.
#include "isa/command.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::isa {

namespace {

constexpr std::uint32_t mask_of(const Field &f) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << f.width) - 1U);
}

[[noreturn]] void refuse(const Field &f, std::uint32_t value) {
  throw std::out_of_range(fmt::format("field {} holds at most {}, but the value is {}", f.name, mask_of(f), value));
}

/// The three fields that place one tile in the scratchpad.
struct TileFields {
  Field row, rot, pstride;
};

constexpr TileFields kDmaTile{field::SPM_ROW, field::SPM_ROT, field::SPM_PSTRIDE};
constexpr TileFields kATile{field::A_ROW, field::A_ROT, field::A_PSTRIDE};
constexpr TileFields kBTile{field::B_ROW, field::B_ROT, field::B_PSTRIDE};
constexpr TileFields kCinTile{field::CIN_ROW, field::CIN_ROT, field::CIN_PSTRIDE};
constexpr TileFields kCoutTile{field::COUT_ROW, field::COUT_ROT, field::COUT_PSTRIDE};

/// A field of tile `tile` of a TILE, from that of its first: each has four words.
constexpr Field of_tile(Field first, std::size_t tile) {
  first.word = static_cast<std::uint8_t>(first.word + 4 * tile);
  return first;
}

/// Word i of a PROGRAM: its low half; the high one follows.
constexpr std::array<Field, 6> kWordFields{field::W0_LO, field::W1_LO, field::W2_LO,
                                           field::W3_LO, field::W4_LO, field::W5_LO};

void put_tile(Command &c, const TileFields &f, const SpmTile &t) {
  c.set(f.row, t.row);
  c.set(f.rot, t.rot);
  c.set(f.pstride, t.pstride);
}

SpmTile get_tile(const Command &c, const TileFields &f) {
  SpmTile t;
  t.row = c.get(f.row);
  t.rot = static_cast<Lane>(c.get(f.rot));
  t.pstride = c.get(f.pstride);
  return t;
}

void put_sync(Command &c, const Sync &s) {
  c.set(field::POST0, s.posts[0]);
  c.set(field::POST1, s.posts[1]);
  c.set(field::POST2, s.posts[2]);
  c.set(field::WAIT0_SEM, s.waits[0].semaphore);
  c.set(field::WAIT0_COUNT, s.waits[0].count);
  c.set(field::WAIT1_SEM, s.waits[1].semaphore);
  c.set(field::WAIT1_COUNT, s.waits[1].count);
  c.set(field::WAIT2_SEM, s.waits[2].semaphore);
  c.set(field::WAIT2_COUNT, s.waits[2].count);
}

Sync get_sync(const Command &c) {
  auto byte = [&](const Field &f) { return static_cast<std::uint8_t>(c.get(f)); };
  Sync s;
  s.posts = {byte(field::POST0), byte(field::POST1), byte(field::POST2)};
  s.waits[0] = {byte(field::WAIT0_SEM), byte(field::WAIT0_COUNT)};
  s.waits[1] = {byte(field::WAIT1_SEM), byte(field::WAIT1_COUNT)};
  s.waits[2] = {byte(field::WAIT2_SEM), byte(field::WAIT2_COUNT)};
  return s;
}

void put_op(Command &c, const DmaCommand &d) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(d.store ? Opcode::STORE : Opcode::LOAD));
  c.set(field::FP32, d.fp32 ? 1 : 0);
  c.set(field::DRAM_ADDR_LO, static_cast<std::uint32_t>(d.dram_addr));
  c.set(field::DRAM_ADDR_HI, static_cast<std::uint32_t>(d.dram_addr >> 32U));
  c.set(field::PITCH, d.pitch);
  c.set(field::ROWS, d.rows);
  c.set(field::COLS, d.cols);
  put_tile(c, kDmaTile, d.spm);
}

/// What all products have.
void put_product(Command &c, const GemmCommand &g) {
  c.set(field::B_COL, g.b_col ? 1 : 0);
  c.set(field::ACC, g.acc ? 1 : 0);
  c.set(field::OUT_BF16, g.out_bf16 ? 1 : 0);
  c.set(field::M, g.m);
  c.set(field::N, g.n);
  c.set(field::K, g.k);
  put_tile(c, kATile, g.a);
  put_tile(c, kBTile, g.b);
  put_tile(c, kCinTile, g.cin);
  put_tile(c, kCoutTile, g.cout);
}

void put_op(Command &c, const GemmCommand &g) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(Opcode::GEMM));
  c.set(field::A_COL, g.a_col ? 1 : 0);
  put_product(c, g);
}

/// Two's complement of the field's width.
void put_signed(Command &c, const Field &f, std::int32_t value) {
  const std::int32_t top = 1 << (f.width - 1U);
  if (value < -top || value >= top)
    throw std::out_of_range(fmt::format("field {} holds {} to {}, but the value is {}", f.name, -top, top - 1, value));
  c.set(f, static_cast<std::uint32_t>(value) & mask_of(f));
}

std::int32_t get_signed(const Command &c, const Field &f) {
  const std::uint32_t value = c.get(f), top = 1U << (f.width - 1U);
  return static_cast<std::int32_t>(value) - (value >= top ? static_cast<std::int32_t>(2 * top) : 0);
}

void put_op(Command &c, const ConvCommand &v) {
  const ImageWalk &i = v.image;
  c.set(field::OPCODE, static_cast<std::uint32_t>(v.weights ? Opcode::WGRAD : Opcode::CONV));
  put_product(c, v.product);
  put_signed(c, field::OFF_Y, i.off_y);
  put_signed(c, field::OFF_X, i.off_x);
  c.set(field::IMG_W, i.img_w);
  c.set(field::IMG_H, i.img_h);
  c.set(field::GRID_W, i.grid_w);
  c.set(field::GRID_H, i.grid_h);
  c.set(field::GRID_Y, i.grid_y);
  if (v.weights) {
    c.set(field::OUT_W, i.out_w);
    c.set(field::OUT_H, i.out_h);
    return;
  }
  c.set(field::TAPS_Y, i.taps_y);
  c.set(field::TAPS_X, i.taps_x);
  put_signed(c, field::STEP_Y, i.step_y);
  put_signed(c, field::STEP_X, i.step_x);
  c.set(field::STRIDE, i.stride);
  c.set(field::PLANE, i.plane);
  c.set(field::PACKED, i.packed ? 1 : 0);
  c.set(field::B_TAP, i.b_tap);
}

void put_op(Command &c, const AddCommand &a) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(Opcode::ADD));
  c.set(field::OUT_BF16, a.out_bf16 ? 1 : 0);
  c.set(field::M, a.m);
  c.set(field::N, a.n);
  put_tile(c, kATile, a.a);
  put_tile(c, kCinTile, a.cin);
  put_tile(c, kCoutTile, a.cout);
}

void put_op(Command &c, const ProgramCommand &p) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(Opcode::PROGRAM));
  c.set(field::AT, p.at);
  c.set(field::COUNT, p.count);
  for (std::size_t i = 0; i < kWordFields.size(); ++i) {
    c.words[kWordFields[i].word] = static_cast<std::uint32_t>(p.words[i]);
    c.words[kWordFields[i].word + 1U] = static_cast<std::uint32_t>(p.words[i] >> 32U);
  }
}

void put_op(Command &c, const TileCommand &t) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(Opcode::TILE));
  for (std::size_t i = 0; i < t.tiles.size(); ++i) {
    const VectorTile &tile = t.tiles[i];
    const auto set = [&](const Field &f, std::uint32_t value) { c.set(of_tile(f, i), value); };
    set(field::T0_ROW, tile.spm.row);
    set(field::T0_ROT, tile.spm.rot);
    set(field::T0_PSTRIDE, tile.spm.pstride);
    set(field::T0_COL, tile.col);
    set(field::T0_ROWS, tile.rows);
    set(field::T0_COLS, tile.cols);
    set(field::T0_SLOT, tile.slot);
    set(field::T0_FP32, tile.fp32 ? 1 : 0);
    set(field::T0_BY_COL, tile.by_col ? 1 : 0);
    set(field::T0_SAME_ELEMENT, tile.same_element ? 1 : 0);
    set(field::T0_SAME_STEP, tile.same_step ? 1 : 0);
  }
}

void put_op(Command &c, const VectorCommand &v) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(Opcode::VECTOR));
  c.set(field::FIRST, v.first);
  c.set(field::ELEMENTS, v.elements);
  c.set(field::STEPS, v.steps);
}

void put_op(Command &c, const SyncCommand &s) {
  c.set(field::OPCODE, static_cast<std::uint32_t>(s.mark ? Opcode::MARK : Opcode::SYNC));
}

DmaCommand get_dma(const Command &c, bool store) {
  DmaCommand d;
  d.store = store;
  d.fp32 = c.get(field::FP32) != 0;
  d.dram_addr = std::uint64_t{c.get(field::DRAM_ADDR_HI)} << 32U | c.get(field::DRAM_ADDR_LO);
  d.pitch = c.get(field::PITCH);
  d.rows = c.get(field::ROWS);
  d.cols = c.get(field::COLS);
  d.spm = get_tile(c, kDmaTile);
  return d;
}

/// Wraps for an illegal ENGINE below 2, and Decoded::engine() adds the same back: nothing is lost.
std::uint8_t get_core(const Command &c) {
  return static_cast<std::uint8_t>(c.get(field::ENGINE) - static_cast<std::uint32_t>(Engine::COMPUTE0));
}

/// Wraps as get_core() does.
std::uint8_t get_unit(const Command &c) {
  return static_cast<std::uint8_t>(c.get(field::ENGINE) - static_cast<std::uint32_t>(Engine::VECTOR0));
}

std::uint8_t engine_of_unit(std::uint8_t unit) {
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(Engine::VECTOR0) + unit);
}

std::uint8_t engine_of_core(std::uint8_t core) {
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(Engine::COMPUTE0) + core);
}

GemmCommand get_gemm(const Command &c) {
  GemmCommand g;
  g.core = get_core(c);
  g.a_col = c.get(field::A_COL) != 0;
  g.b_col = c.get(field::B_COL) != 0;
  g.acc = c.get(field::ACC) != 0;
  g.out_bf16 = c.get(field::OUT_BF16) != 0;
  g.m = c.get(field::M);
  g.n = c.get(field::N);
  g.k = c.get(field::K);
  g.a = get_tile(c, kATile);
  g.b = get_tile(c, kBTile);
  g.cin = get_tile(c, kCinTile);
  g.cout = get_tile(c, kCoutTile);
  return g;
}

ConvCommand get_conv(const Command &c, bool weights) {
  ConvCommand v;
  v.weights = weights;
  v.product = get_gemm(c);
  v.product.a_col = !weights;
  ImageWalk &i = v.image;
  i.off_y = get_signed(c, field::OFF_Y);
  i.off_x = get_signed(c, field::OFF_X);
  i.img_w = c.get(field::IMG_W);
  i.img_h = c.get(field::IMG_H);
  i.grid_w = c.get(field::GRID_W);
  i.grid_h = c.get(field::GRID_H);
  i.grid_y = c.get(field::GRID_Y);
  if (weights) {
    i.out_w = c.get(field::OUT_W);
    i.out_h = c.get(field::OUT_H);
    return v;
  }
  i.taps_y = c.get(field::TAPS_Y);
  i.taps_x = c.get(field::TAPS_X);
  i.step_y = get_signed(c, field::STEP_Y);
  i.step_x = get_signed(c, field::STEP_X);
  i.stride = c.get(field::STRIDE);
  i.plane = c.get(field::PLANE);
  i.packed = c.get(field::PACKED) != 0;
  i.b_tap = c.get(field::B_TAP);
  return v;
}

AddCommand get_add(const Command &c) {
  AddCommand a;
  a.core = get_core(c);
  a.out_bf16 = c.get(field::OUT_BF16) != 0;
  a.m = c.get(field::M);
  a.n = c.get(field::N);
  a.a = get_tile(c, kATile);
  a.cin = get_tile(c, kCinTile);
  a.cout = get_tile(c, kCoutTile);
  return a;
}

ProgramCommand get_program(const Command &c) {
  ProgramCommand p;
  p.unit = get_unit(c);
  p.at = c.get(field::AT);
  p.count = c.get(field::COUNT);
  for (std::size_t i = 0; i < kWordFields.size(); ++i)
    p.words[i] = c.words[kWordFields[i].word] | std::uint64_t{c.words[kWordFields[i].word + 1U]} << 32U;
  return p;
}

TileCommand get_tiles(const Command &c) {
  TileCommand t;
  t.unit = get_unit(c);
  for (std::size_t i = 0; i < t.tiles.size(); ++i) {
    VectorTile &tile = t.tiles[i];
    const auto get = [&](const Field &f) { return c.get(of_tile(f, i)); };
    tile.spm.row = get(field::T0_ROW);
    tile.spm.rot = static_cast<Lane>(get(field::T0_ROT));
    tile.spm.pstride = get(field::T0_PSTRIDE);
    tile.col = get(field::T0_COL);
    tile.rows = get(field::T0_ROWS);
    tile.cols = get(field::T0_COLS);
    tile.slot = get(field::T0_SLOT);
    tile.fp32 = get(field::T0_FP32) != 0;
    tile.by_col = get(field::T0_BY_COL) != 0;
    tile.same_element = get(field::T0_SAME_ELEMENT) != 0;
    tile.same_step = get(field::T0_SAME_STEP) != 0;
  }
  return t;
}

} // namespace

std::string slot_name(std::uint32_t slot) {
  return slot < kOperandSlots ? fmt::format("t{}", slot) : fmt::format("o{}", slot - kOperandSlots);
}

std::uint32_t Command::get(const Field &f) const { return words[f.word] >> f.lsb & mask_of(f); }

void Command::set(const Field &f, std::uint32_t value) {
  const std::uint32_t mask = mask_of(f);
  if (value > mask) refuse(f, value);
  words[f.word] = (words[f.word] & ~(mask << f.lsb)) | value << f.lsb;
}

std::uint8_t Decoded::engine() const {
  if (const auto *d = std::get_if<DmaCommand>(&op))
    return static_cast<std::uint8_t>(d->store ? Engine::STORE : Engine::LOAD);
  if (const auto *g = std::get_if<GemmCommand>(&op)) return engine_of_core(g->core);
  if (const auto *a = std::get_if<AddCommand>(&op)) return engine_of_core(a->core);
  if (const auto *v = std::get_if<ConvCommand>(&op)) return engine_of_core(v->product.core);
  if (const auto *p = std::get_if<ProgramCommand>(&op)) return engine_of_unit(p->unit);
  if (const auto *t = std::get_if<TileCommand>(&op)) return engine_of_unit(t->unit);
  if (const auto *r = std::get_if<VectorCommand>(&op)) return engine_of_unit(r->unit);
  return std::get<SyncCommand>(op).engine;
}

bool is_mark(const Command &c) { return c.get(field::OPCODE) == static_cast<std::uint32_t>(Opcode::MARK); }

Command encode(const Decoded &d) {
  Command c;
  std::visit([&](const auto &op) { put_op(c, op); }, d.op);
  c.set(field::ENGINE, d.engine());
  put_sync(c, d.sync);
  c.set(field::TAG, d.tag);
  return c;
}

std::optional<Decoded> decode(const Command &c) {
  Decoded d;
  switch (static_cast<Opcode>(c.get(field::OPCODE))) {
  case Opcode::LOAD:
    d.op = get_dma(c, false);
    break;
  case Opcode::STORE:
    d.op = get_dma(c, true);
    break;
  case Opcode::GEMM:
    d.op = get_gemm(c);
    break;
  case Opcode::ADD:
    d.op = get_add(c);
    break;
  case Opcode::CONV:
    d.op = get_conv(c, false);
    break;
  case Opcode::WGRAD:
    d.op = get_conv(c, true);
    break;
  case Opcode::SYNC:
  case Opcode::MARK:
    d.op = SyncCommand{static_cast<std::uint8_t>(c.get(field::ENGINE)), is_mark(c)};
    break;
  case Opcode::PROGRAM:
    d.op = get_program(c);
    break;
  case Opcode::TILE:
    d.op = get_tiles(c);
    break;
  case Opcode::VECTOR:
    d.op = VectorCommand{get_unit(c), c.get(field::FIRST), c.get(field::ELEMENTS), c.get(field::STEPS)};
    break;
  default:
    return std::nullopt;
  }
  d.sync = get_sync(c);
  d.tag = static_cast<std::uint16_t>(c.get(field::TAG));
  return d;
}

} // namespace gradweave::isa
