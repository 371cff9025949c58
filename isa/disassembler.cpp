// Writes the text form of commands.
#include "isa/assembler.hpp"

#include <fmt/format.h>

namespace gradweave::isa {

namespace {

std::string tile_text(const SpmTile &t) { return fmt::format("{}:{}:{}", t.row, t.pstride, t.rot); }

std::string engine_name(std::uint8_t engine) {
  if (engine == static_cast<std::uint8_t>(Engine::LOAD)) return "load";
  if (engine == static_cast<std::uint8_t>(Engine::STORE)) return "store";
  if (is_vector_engine(engine)) return fmt::format("vector{}", engine - static_cast<std::uint8_t>(Engine::VECTOR0));
  return fmt::format("compute{}", engine - static_cast<std::uint8_t>(Engine::COMPUTE0));
}

std::string op_text(const DmaCommand &d) {
  std::string s = fmt::format("{} {} dram={:#x}", d.store ? "STORE" : "LOAD", d.fp32 ? "fp32" : "bf16", d.dram_addr);
  if (d.rows != 1 || d.pitch != 0) s += fmt::format(" pitch={}", d.pitch);
  return s +
         fmt::format(" rows={} cols={} spm={} pstride={} rot={}", d.rows, d.cols, d.spm.row, d.spm.pstride, d.spm.rot);
}

/// `a`: the operand A, which has a walk of its own only in a GEMM.
std::string product_text(std::string_view opcode, const GemmCommand &g, const std::string &a) {
  std::string s = fmt::format("{} {}", opcode, g.out_bf16 ? "bf16" : "fp32");
  if (g.core != 0) s += fmt::format(" core={}", g.core);
  s += fmt::format(" m={} n={} k={} a={} b={}:{}", g.m, g.n, g.k, a, g.b_col ? "col" : "row", tile_text(g.b));
  if (g.acc) s += fmt::format(" cin={}", tile_text(g.cin));
  return s + fmt::format(" cout={}", tile_text(g.cout));
}

std::string op_text(const GemmCommand &g) {
  return product_text("GEMM", g, fmt::format("{}:{}", g.a_col ? "col" : "row", tile_text(g.a)));
}

std::string op_text(const ConvCommand &v) {
  const ImageWalk &i = v.image;
  std::string s = product_text(v.weights ? "WGRAD" : "CONV", v.product, tile_text(v.product.a)) +
                  fmt::format(" image={}:{} grid={}:{}:{} off={}:{}", i.img_h, i.img_w, i.grid_h, i.grid_w, i.grid_y,
                              i.off_y, i.off_x);
  if (v.weights) return s + fmt::format(" out={}:{}", i.out_h, i.out_w);
  s += fmt::format(" taps={}:{} step={}:{} stride={} plane={}", i.taps_y, i.taps_x, i.step_y, i.step_x, i.stride,
                   i.plane);
  if (i.packed) s += " packed=1";
  return s + fmt::format(" btap={}", i.b_tap);
}

std::string op_text(const AddCommand &a) {
  std::string s = fmt::format("ADD {}", a.out_bf16 ? "bf16" : "fp32");
  if (a.core != 0) s += fmt::format(" core={}", a.core);
  return s +
         fmt::format(" m={} n={} a={} cin={} cout={}", a.m, a.n, tile_text(a.a), tile_text(a.cin), tile_text(a.cout));
}

std::string unit_text(std::uint8_t unit) { return unit == 0 ? std::string() : fmt::format(" core={}", unit); }

std::string op_text(const ProgramCommand &p) {
  std::string s = fmt::format("PROGRAM{} at={}", unit_text(p.unit), p.at);
  for (std::size_t i = 0; i < p.count && i < p.words.size(); ++i)
    s += fmt::format("{}{:#018x}", i == 0 ? " words=" : ",", p.words[i]);
  return s;
}

std::string op_text(const TileCommand &t) {
  std::string s = "TILE" + unit_text(t.unit);
  for (const VectorTile &tile : t.tiles) {
    if (tile.slot == kNoSlot) continue;
    s += fmt::format(" {}={}:{}:{}:{}x{}+{}", slot_name(tile.slot), tile.fp32 ? "fp32" : "bf16",
                     tile.by_col ? "col" : "row", tile_text(tile.spm), tile.rows, tile.cols, tile.col);
    if (tile.same_element) s += ":element0";
    if (tile.same_step) s += ":step0";
  }
  return s;
}

std::string op_text(const VectorCommand &v) {
  return fmt::format("VECTOR{} first={} elements={} steps={}", unit_text(v.unit), v.first, v.elements, v.steps);
}

std::string op_text(const SyncCommand &s) {
  return s.mark ? "MARK" : fmt::format("SYNC engine={}", engine_name(s.engine));
}

/// " key=a,-,c" without the unused places at the end; nothing if all are unused.
std::string list_text(std::string_view key, const std::array<std::string, 3> &places) {
  std::size_t used = places.size();
  while (used != 0 && places[used - 1].empty())
    --used;
  std::string text;
  for (std::size_t i = 0; i < used; ++i)
    text += fmt::format("{}{}", i == 0 ? fmt::format(" {}=", key) : ",", places[i].empty() ? "-" : places[i]);
  return text;
}

std::string sync_text(const Sync &s) {
  std::array<std::string, 3> waits;
  std::array<std::string, 3> posts;
  for (std::size_t i = 0; i < 3; ++i) {
    const Wait &w = s.waits[i];
    if (w.semaphore != kNoSemaphore || w.count != 0) waits[i] = fmt::format("{}:{}", w.semaphore, w.count);
    if (s.posts[i] != kNoSemaphore) posts[i] = fmt::format("{}", s.posts[i]);
  }
  return list_text("wait", waits) + list_text("post", posts);
}

std::string raw_text(const Command &c) {
  std::string s = "RAW";
  for (const std::uint32_t w : c.words)
    s += fmt::format(" {:#010x}", w);
  return s;
}

/// Whether each tile has a name of its own, or none.
bool tiles_have_names(const TileCommand &t) {
  std::uint32_t seen = 0;
  for (const VectorTile &tile : t.tiles) {
    if (tile.slot == kNoSlot) continue;
    if (tile.slot >= kSlots || (seen >> tile.slot & 1U) != 0) return false;
    seen |= 1U << tile.slot;
  }
  return true;
}

/// The text of everything that has a typed form; empty for a command on an engine of another kind.
std::string typed_text(const Decoded &d) {
  const bool needs_core = std::holds_alternative<GemmCommand>(d.op) || std::holds_alternative<AddCommand>(d.op) ||
                          std::holds_alternative<ConvCommand>(d.op);
  if (needs_core && d.engine() < static_cast<std::uint8_t>(Engine::COMPUTE0)) return {};
  const bool needs_unit = std::holds_alternative<ProgramCommand>(d.op) || std::holds_alternative<TileCommand>(d.op) ||
                          std::holds_alternative<VectorCommand>(d.op);
  if (needs_unit && !is_vector_engine(d.engine())) return {};
  if (const auto *t = std::get_if<TileCommand>(&d.op); t != nullptr && !tiles_have_names(*t)) return {};
  std::string text = std::visit([](const auto &op) { return op_text(op); }, d.op) + sync_text(d.sync);
  if (d.tag != 0) text += fmt::format(" tag={}", d.tag);
  return text;
}

} // namespace

std::string disassemble(const Command &c) {
  // Reserved bits or an engine that does not fit have no typed form: what does not come back from the assembler is
  // written raw.
  if (const std::optional<Decoded> d = decode(c)) {
    std::string text = typed_text(*d);
    if (!text.empty() && assemble(text).front() == c) return text;
  }
  return raw_text(c);
}

} // namespace gradweave::isa
