// Random commands for tests of the command path: legal ones, and ones broken on purpose.
#pragma once

#include "isa/command.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace gradweave::test {

class RandomCommand {
public:
  RandomCommand(const isa::Limits &limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

  /// A command that check_command() accepts under the limits.
  isa::Command legal() {
    isa::Decoded d;
    d.tag = static_cast<std::uint16_t>(below(65536));
    d.sync = sync();
    switch (below(limits_.vectors == 0 ? 6 : 9)) {
    case 6:
      d.op = program();
      break;
    case 7:
      d.op = tiles();
      break;
    case 8:
      d.op =
          isa::VectorCommand{unit(), static_cast<std::uint32_t>(below(isa::kProgramWords)), side(65535), side(65535)};
      break;
    case 0:
      d.op = dma();
      break;
    case 1:
      d.op = gemm();
      break;
    case 2:
      d.op = add();
      break;
    case 3:
      d.op = conv(false);
      break;
    case 4:
      d.op = conv(true);
      break;
    default:
      d.op = below(2) == 0 ? isa::SyncCommand{1, true} : isa::SyncCommand{engine()};
      break;
    }
    return isa::encode(d);
  }

  /// A legal command with one field of its opcode set to a border value or to anything.
  isa::Command with_mutated_field() {
    isa::Command c = legal();
    const std::vector<isa::Field> fields = fields_of(c);
    const isa::Field &f = fields[below(fields.size())];
    const std::uint64_t top = (std::uint64_t{1} << f.width) - 1;
    const std::uint64_t old = c.get(f);
    const std::uint64_t values[] = {0,
                                    1,
                                    top,
                                    old + 1,
                                    old - 1,
                                    old * 2,
                                    limits_.lanes,
                                    limits_.semaphores,
                                    limits_.spm_rows,
                                    limits_.lanes + 1,
                                    254,
                                    255,
                                    random_()};
    c.set(f, static_cast<std::uint32_t>(values[below(std::size(values))] & top));
    return c;
  }

  /// A legal command with one to three bits flipped anywhere.
  isa::Command with_flipped_bits() {
    isa::Command c = legal();
    for (std::uint64_t n = 1 + below(3); n > 0; --n)
      c.words[below(isa::kCommandWords)] ^= 1U << below(32);
    return c;
  }

  /// Random bits; mostly with a known opcode.
  isa::Command noise() {
    isa::Command c;
    for (std::uint32_t &word : c.words)
      word = static_cast<std::uint32_t>(random_());
    if (below(8) != 0) c.set(isa::field::OPCODE, static_cast<std::uint32_t>(1 + below(11)));
    return c;
  }

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

private:
  template <std::size_t N> static std::vector<isa::Field> list(const std::array<isa::Field, N> &fields) {
    return {fields.begin(), fields.end()};
  }
  static std::vector<isa::Field> fields_of(const isa::Command &c) {
    switch (static_cast<isa::Opcode>(c.get(isa::field::OPCODE))) {
    case isa::Opcode::LOAD:
      return list(isa::kLOADFields);
    case isa::Opcode::STORE:
      return list(isa::kSTOREFields);
    case isa::Opcode::GEMM:
      return list(isa::kGEMMFields);
    case isa::Opcode::ADD:
      return list(isa::kADDFields);
    case isa::Opcode::CONV:
      return list(isa::kCONVFields);
    case isa::Opcode::WGRAD:
      return list(isa::kWGRADFields);
    case isa::Opcode::PROGRAM:
      return list(isa::kPROGRAMFields);
    case isa::Opcode::TILE:
      return list(isa::kTILEFields);
    case isa::Opcode::VECTOR:
      return list(isa::kVECTORFields);
    default:
      return list(isa::kSYNCFields);
    }
  }

  /// Of any kind.
  std::uint8_t engine() {
    const auto place = static_cast<std::uint32_t>(below(2 + limits_.cores + limits_.vectors));
    return isa::engine_at(place, limits_.cores);
  }
  std::uint8_t unit() { return static_cast<std::uint8_t>(below(limits_.vectors)); }

  isa::ProgramCommand program() {
    isa::ProgramCommand p;
    p.unit = unit();
    p.count = static_cast<std::uint32_t>(1 + below(6));
    p.at = side(isa::kProgramWords - p.count + 1) - 1;
    for (std::uint32_t i = 0; i < p.count; ++i)
      p.words[i] = random_();
    return p;
  }

  isa::TileCommand tiles() {
    isa::TileCommand t;
    t.unit = unit();
    for (isa::VectorTile &tile : t.tiles) {
      if (below(4) == 0) continue;
      tile.slot = static_cast<std::uint32_t>(below(isa::kSlots));
      tile.fp32 = below(2) != 0;
      tile.by_col = below(2) != 0;
      tile.same_element = tile.slot < isa::kOperandSlots && below(2) != 0;
      tile.same_step = below(2) != 0;
      const std::uint32_t panels = 1 + static_cast<std::uint32_t>(below(3));
      const std::uint32_t cols = size(panels * limits_.lanes);
      tile.col = static_cast<std::uint32_t>(below(std::min(limits_.lanes, cols)));
      tile.cols = cols - tile.col;
      tile.rows = size(most_rows(panels));
      tile.spm = place(tile.rows, cols, tile.fp32);
    }
    return t;
  }

  isa::Sync sync() {
    isa::Sync s;
    std::vector<std::uint8_t> names(limits_.semaphores);
    for (std::size_t i = 0; i < names.size(); ++i)
      names[i] = static_cast<std::uint8_t>(i);
    std::shuffle(names.begin(), names.end(), random_);
    for (std::size_t i = 0; i < 3; ++i) {
      if (below(2) != 0) s.waits[i] = {names[i], static_cast<std::uint8_t>(1 + below(255))};
      if (below(2) != 0) s.posts[i] = static_cast<std::uint8_t>(below(limits_.semaphores));
    }
    return s;
  }

  /// Sizes that fit the scratchpad in any of a GEMM's roles; often a border case.
  std::uint32_t size(std::uint32_t most) {
    const std::uint32_t borders[] = {1, limits_.lanes, limits_.lanes + 1, 2 * limits_.lanes, most};
    const auto n = static_cast<std::uint32_t>(below(2) != 0 ? borders[below(5)] : 1 + below(most));
    return std::clamp(n, 1U, most);
  }

  isa::SpmTile place(std::uint32_t rows, std::uint32_t cols, bool fp32) {
    const std::uint32_t unit = fp32 ? 2 : 1;
    const std::uint32_t panel = rows * unit;
    const std::uint32_t last = (cols - 1) / limits_.lanes;
    isa::SpmTile t;
    t.rot = static_cast<isa::Lane>(below(limits_.lanes));
    if (last == 0) {
      t.pstride = static_cast<std::uint32_t>(below(isa::kMaxSpmRows / 2) * unit); // of no effect
    } else {
      const std::uint32_t slack = (limits_.spm_rows - panel) / last - panel;
      t.pstride = (panel + static_cast<std::uint32_t>(below(slack + 1))) / unit * unit;
    }
    const std::uint32_t room = limits_.spm_rows - last * t.pstride * (last != 0 ? 1 : 0) - panel;
    t.row = static_cast<std::uint32_t>(below(3) != 0 ? below(room + 1) : room) / unit * unit;
    return t;
  }

  /// Largest number of rows for which `panels` panels of fp32 fit.
  std::uint32_t most_rows(std::uint32_t panels) const { return std::max(1U, limits_.spm_rows / (2 * panels)); }

  isa::DmaCommand dma() {
    isa::DmaCommand d;
    d.store = below(2) != 0;
    d.fp32 = below(2) != 0;
    const std::uint32_t element = d.fp32 ? 4 : 2;
    const std::uint32_t panels = 1 + static_cast<std::uint32_t>(below(4));
    d.cols = size(panels * limits_.lanes);
    d.rows = size(most_rows(panels));
    d.spm = place(d.rows, d.cols, d.fp32);
    const std::uint64_t row_bytes = std::uint64_t{d.cols} * element;
    const std::uint64_t most_pitch =
        d.rows == 1 ? 0xFFFFFFFF : std::min<std::uint64_t>(0xFFFFFFFF, (limits_.dram_size - row_bytes) / (d.rows - 1));
    d.pitch = static_cast<std::uint32_t>(below(most_pitch + 1));
    if (d.rows > 1) d.pitch -= d.pitch % element;
    const std::uint64_t bytes = row_bytes + (d.rows == 1 ? 0 : std::uint64_t{d.pitch} * (d.rows - 1));
    const std::uint64_t room = limits_.dram_size - bytes;
    d.dram_addr = limits_.dram_base + (below(4) != 0 ? below(room + 1) : room) / element * element;
    return d;
  }

  isa::GemmCommand gemm() {
    isa::GemmCommand g;
    g.core = static_cast<std::uint8_t>(below(limits_.cores));
    g.a_col = below(2) != 0;
    g.b_col = below(2) != 0;
    g.acc = below(2) != 0;
    g.out_bf16 = below(2) != 0;
    const std::uint32_t panels = 1 + static_cast<std::uint32_t>(below(3));
    const std::uint32_t most = std::min(panels * limits_.lanes, most_rows(panels));
    g.m = size(most);
    g.n = size(most);
    g.k = size(most);
    g.a = g.a_col ? place(g.m, g.k, false) : place(g.k, g.m, false);
    g.b = g.b_col ? place(g.n, g.k, false) : place(g.k, g.n, false);
    if (g.acc) g.cin = place(g.m, g.n, true);
    g.cout = place(g.m, g.n, !g.out_bf16);
    return g;
  }

  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// 1 to `most`; often one of the two.
  std::uint32_t side(std::uint32_t most) {
    const std::uint64_t kind = below(4);
    return kind == 0 ? 1 : kind == 1 ? most : 1 + static_cast<std::uint32_t>(below(most));
  }

  isa::ImageWalk image(bool weights) {
    isa::ImageWalk i;
    if (!weights) {
      i.taps_y = side(4);
      i.taps_x = side(4);
      i.step_y = between(-2, 2);
      i.step_x = between(-2, 2);
      i.stride = 1 + static_cast<std::uint32_t>(below(3));
      i.plane = static_cast<std::uint32_t>(below(4));
      i.packed = below(3) == 0;
      i.b_tap = static_cast<std::uint32_t>(below(5));
    }
    i.off_y = between(-3, 3);
    i.off_x = between(-3, 3);
    i.grid_w = side(12);
    i.grid_h = side(1023);
    i.grid_y = side(i.grid_h) - 1;
    i.img_w = side(std::min(i.grid_w * i.stride, 2047U));
    i.img_h = side(std::min(i.grid_h * i.stride, 1023U));
    if (weights) {
      i.out_w = side(i.grid_w);
      i.out_h = side(i.grid_h);
    }
    return i;
  }

  /// Its taps often reach to an end of the scratchpad.
  isa::ConvCommand conv(bool weights) {
    isa::ConvCommand v;
    v.weights = weights;
    v.product = gemm();
    isa::GemmCommand &g = v.product;
    g.a_col = !weights;
    v.image = image(weights);
    const std::uint32_t rows = weights ? g.k : g.m, cols = weights ? g.m : g.k;
    isa::RowSpan span = isa::tap_span(v.image);
    if (place_a(g.a, rows, cols, span) && v.b_rows() <= limits_.spm_rows / 4) {
      const std::uint32_t b_cols = g.b_col ? g.k : g.n;
      if ((b_cols - 1) / limits_.lanes * v.b_rows() + v.b_rows() <= limits_.spm_rows) {
        g.b = place(v.b_rows(), b_cols, false);
        return v;
      }
    }
    g.m = g.n = g.k = 1; // one pixel by one channel of a kernel of one tap fits anywhere
    v.image.taps_y = v.image.taps_x = 1;
    v.image.off_y = v.image.off_x = 0;
    v.image.plane = 0;
    g.a = g.b = g.cout = {0, 0, 0};
    g.cin = {};
    return v;
  }

  /// False if there is no room.
  bool place_a(isa::SpmTile &t, std::uint32_t rows, std::uint32_t cols, const isa::RowSpan &span) {
    const std::int64_t panels = (cols - 1) / limits_.lanes;
    t.rot = static_cast<isa::Lane>(below(limits_.lanes));
    t.pstride = rows + static_cast<std::uint32_t>(below(3));
    const std::int64_t lowest = std::max<std::int64_t>(0, -span.lo);
    const std::int64_t highest = limits_.spm_rows - span.hi - panels * t.pstride - rows;
    if (highest < lowest) return false;
    const auto room = static_cast<std::uint64_t>(highest - lowest);
    t.row = static_cast<std::uint32_t>(lowest) + static_cast<std::uint32_t>(below(3) == 0   ? 0
                                                                            : below(2) == 0 ? room
                                                                                            : below(room + 1));
    return true;
  }

  isa::AddCommand add() {
    isa::AddCommand a;
    a.core = static_cast<std::uint8_t>(below(limits_.cores));
    a.out_bf16 = below(2) != 0;
    const std::uint32_t panels = 1 + static_cast<std::uint32_t>(below(3));
    a.m = size(most_rows(panels));
    a.n = size(panels * limits_.lanes);
    a.a = place(a.m, a.n, true);
    a.cin = place(a.m, a.n, true);
    a.cout = place(a.m, a.n, !a.out_bf16);
    return a;
  }

  isa::Limits limits_;
  std::mt19937_64 random_;
};

} // namespace gradweave::test
