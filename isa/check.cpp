// The checks of the hardware's dispatch stage. The order is part of the contract: the RTL reports the first that fails.
#include "isa/command.hpp"

namespace gradweave::isa {

namespace {

using Mask = std::array<std::uint32_t, kCommandWords>;

template <std::size_t N> constexpr Mask used_bits(const std::array<Field, N> &fields) {
  Mask mask{};
  for (const Field &f : fields)
    mask[f.word] |= static_cast<std::uint32_t>((std::uint64_t{1} << f.width) - 1U) << f.lsb;
  return mask;
}

constexpr Mask kLoadUsed = used_bits(kLOADFields);
constexpr Mask kStoreUsed = used_bits(kSTOREFields);
constexpr Mask kGemmUsed = used_bits(kGEMMFields);
constexpr Mask kAddUsed = used_bits(kADDFields);
constexpr Mask kConvUsed = used_bits(kCONVFields);
constexpr Mask kWgradUsed = used_bits(kWGRADFields);
constexpr Mask kProgramUsed = used_bits(kPROGRAMFields);
constexpr Mask kTileUsed = used_bits(kTILEFields);
constexpr Mask kVectorUsed = used_bits(kVECTORFields);
constexpr Mask kSyncUsed = used_bits(kSYNCFields);
constexpr Mask kMarkUsed = used_bits(kMARKFields);

const Mask &used_bits_of(Opcode op) {
  switch (op) {
  case Opcode::LOAD:
    return kLoadUsed;
  case Opcode::STORE:
    return kStoreUsed;
  case Opcode::GEMM:
    return kGemmUsed;
  case Opcode::ADD:
    return kAddUsed;
  case Opcode::CONV:
    return kConvUsed;
  case Opcode::WGRAD:
    return kWgradUsed;
  case Opcode::MARK:
    return kMarkUsed;
  case Opcode::PROGRAM:
    return kProgramUsed;
  case Opcode::TILE:
    return kTileUsed;
  case Opcode::VECTOR:
    return kVectorUsed;
  case Opcode::SYNC:
    break;
  }
  return kSyncUsed;
}

bool reserved_bits_zero(const Command &c, Opcode op) {
  const Mask &used = used_bits_of(op);
  for (std::size_t i = 0; i < kCommandWords; ++i)
    if ((c.words[i] & ~used[i]) != 0) return false;
  return true;
}

bool engine_fits(const Command &c, Opcode op, const Limits &limits) {
  const std::uint32_t engine = c.get(field::ENGINE);
  const auto compute0 = static_cast<std::uint32_t>(Engine::COMPUTE0);
  const auto vector0 = static_cast<std::uint32_t>(Engine::VECTOR0);
  const bool is_unit = engine >= vector0 && engine < vector0 + limits.vectors;
  switch (op) {
  case Opcode::LOAD:
    return engine == static_cast<std::uint32_t>(Engine::LOAD);
  case Opcode::STORE:
  case Opcode::MARK:
    return engine == static_cast<std::uint32_t>(Engine::STORE);
  case Opcode::GEMM:
  case Opcode::ADD:
  case Opcode::CONV:
  case Opcode::WGRAD:
    return engine >= compute0 && engine < compute0 + limits.cores;
  case Opcode::PROGRAM:
  case Opcode::TILE:
  case Opcode::VECTOR:
    return is_unit;
  case Opcode::SYNC:
    break;
  }
  return engine < compute0 + limits.cores || is_unit;
}

bool sync_legal(const Sync &s, const Limits &limits) {
  auto exists = [&](std::uint8_t sem) { return sem == kNoSemaphore || sem < limits.semaphores; };
  for (std::uint8_t post : s.posts)
    if (!exists(post)) return false;
  for (std::size_t i = 0; i < s.waits.size(); ++i) {
    const Wait &w = s.waits[i];
    if (!exists(w.semaphore) || (w.count != 0) != (w.semaphore != kNoSemaphore)) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (w.semaphore != kNoSemaphore && w.semaphore == s.waits[j].semaphore) return false;
  }
  return true;
}

/// A tile together with the shape that the command gives it.
struct Extent {
  SpmTile tile;
  std::uint32_t rows, cols;
  bool fp32;

  std::uint64_t panel_rows() const { return std::uint64_t{rows} * (fp32 ? 2 : 1); }
  bool legal(const Limits &limits) const {
    if (tile.rot >= limits.lanes) return false;
    if (fp32 && (tile.row % 2 != 0 || tile.pstride % 2 != 0)) return false;
    return cols <= limits.lanes || tile.pstride >= panel_rows();
  }
  bool inside_spm(const Limits &limits) const {
    return tile.row + std::uint64_t{(cols - 1) / limits.lanes} * tile.pstride + panel_rows() <= limits.spm_rows;
  }
};

bool dram_aligned(const DmaCommand &d) {
  const std::uint32_t element = d.fp32 ? 4 : 2;
  return d.dram_addr % element == 0 && (d.rows == 1 || d.pitch % element == 0);
}

bool inside_dram(const DmaCommand &d, const Limits &limits) {
  if (d.dram_addr < limits.dram_base) return false;
  // At most 2^48 + 2^18, so only the last sum can leave 64 bits.
  const std::uint64_t pitched = d.rows == 1 ? 0 : std::uint64_t{d.rows - 1} * d.pitch;
  const std::uint64_t bytes = pitched + std::uint64_t{d.cols} * (d.fp32 ? 4 : 2);
  const bool leaves_address_space = d.dram_addr != 0 && bytes > std::uint64_t{0} - d.dram_addr;
  const std::uint64_t offset = d.dram_addr - limits.dram_base;
  return !leaves_address_space && offset <= limits.dram_size && bytes <= limits.dram_size - offset;
}

ErrorCode check_op(const DmaCommand &d, const Limits &limits) {
  if (d.rows == 0 || d.cols == 0) return ErrorCode::ILLEGAL_FIELD;
  const Extent e{d.spm, d.rows, d.cols, d.fp32};
  if (!e.legal(limits)) return ErrorCode::ILLEGAL_FIELD;
  if (!e.inside_spm(limits)) return ErrorCode::SPM_RANGE;
  if (!dram_aligned(d)) return ErrorCode::DRAM_ALIGN;
  if (!inside_dram(d, limits)) return ErrorCode::DRAM_RANGE;
  return ErrorCode::NONE;
}

ErrorCode check_op(const GemmCommand &g, const Limits &limits) {
  if (g.m == 0 || g.n == 0 || g.k == 0) return ErrorCode::ILLEGAL_FIELD;
  const Extent a{g.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m, false};
  const Extent b{g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n, false};
  const Extent cin{g.cin, g.m, g.n, true};
  const Extent cout{g.cout, g.m, g.n, !g.out_bf16};
  const bool cin_legal = g.acc ? cin.legal(limits) : g.cin.row == 0 && g.cin.rot == 0 && g.cin.pstride == 0;
  if (!cin_legal || !a.legal(limits) || !b.legal(limits) || !cout.legal(limits)) return ErrorCode::ILLEGAL_FIELD;
  const bool inside =
      a.inside_spm(limits) && b.inside_spm(limits) && (!g.acc || cin.inside_spm(limits)) && cout.inside_spm(limits);
  return inside ? ErrorCode::NONE : ErrorCode::SPM_RANGE;
}

bool image_legal(const ConvCommand &v) {
  const ImageWalk &i = v.image;
  if (i.taps_y == 0 || i.taps_x == 0 || i.stride == 0) return false;
  if (i.grid_w == 0 || i.grid_h == 0 || i.grid_y >= i.grid_h || i.img_w == 0 || i.img_h == 0) return false;
  if (i.img_w > i.grid_w * i.stride || i.img_h > i.grid_h * i.stride) return false;
  return !v.weights || (i.out_w != 0 && i.out_w <= i.grid_w && i.out_h != 0 && i.out_h <= i.grid_h);
}

/// Whether every line that a tap reads, of padding too, lies in the scratchpad.
bool taps_inside_spm(const ConvCommand &v, const Limits &limits) {
  const GemmCommand &g = v.product;
  const std::uint32_t rows = v.weights ? g.k : g.m, cols = v.weights ? g.m : g.k;
  const RowSpan span = tap_span(v.image);
  const std::int64_t panels = std::int64_t{(cols - 1) / limits.lanes} * g.a.pstride;
  return g.a.row + span.lo >= 0 && g.a.row + span.hi + panels + rows <= std::int64_t{limits.spm_rows};
}

ErrorCode check_op(const ConvCommand &v, const Limits &limits) {
  const GemmCommand &g = v.product;
  if (g.m == 0 || g.n == 0 || g.k == 0 || !image_legal(v)) return ErrorCode::ILLEGAL_FIELD;
  const std::uint32_t b_rows = v.b_rows();
  if (b_rows > 65535) return ErrorCode::ILLEGAL_FIELD;
  const Extent a{g.a, v.weights ? g.k : g.m, v.weights ? g.m : g.k, false};
  const Extent b{g.b, b_rows, g.b_col ? g.k : g.n, false};
  const Extent cin{g.cin, g.m, g.n, true};
  const Extent cout{g.cout, g.m, g.n, !g.out_bf16};
  const bool cin_legal = g.acc ? cin.legal(limits) : g.cin.row == 0 && g.cin.rot == 0 && g.cin.pstride == 0;
  if (!cin_legal || !a.legal(limits) || !b.legal(limits) || !cout.legal(limits)) return ErrorCode::ILLEGAL_FIELD;
  const bool inside = taps_inside_spm(v, limits) && b.inside_spm(limits) && (!g.acc || cin.inside_spm(limits)) &&
                      cout.inside_spm(limits);
  return inside ? ErrorCode::NONE : ErrorCode::SPM_RANGE;
}

ErrorCode check_op(const AddCommand &add, const Limits &limits) {
  if (add.m == 0 || add.n == 0) return ErrorCode::ILLEGAL_FIELD;
  const Extent a{add.a, add.m, add.n, true};
  const Extent cin{add.cin, add.m, add.n, true};
  const Extent cout{add.cout, add.m, add.n, !add.out_bf16};
  if (!a.legal(limits) || !cin.legal(limits) || !cout.legal(limits)) return ErrorCode::ILLEGAL_FIELD;
  const bool inside = a.inside_spm(limits) && cin.inside_spm(limits) && cout.inside_spm(limits);
  return inside ? ErrorCode::NONE : ErrorCode::SPM_RANGE;
}

ErrorCode check_op(const ProgramCommand &p, const Limits &) {
  if (p.count == 0 || p.count > p.words.size() || p.at + p.count > kProgramWords) return ErrorCode::ILLEGAL_FIELD;
  for (std::size_t i = p.count; i < p.words.size(); ++i)
    if (p.words[i] != 0) return ErrorCode::ILLEGAL_FIELD;
  return ErrorCode::NONE;
}

/// What is wrong with one of the tiles of a TILE.
ErrorCode check_vector_tile(const VectorTile &t, const Limits &limits) {
  if (t.slot == kNoSlot) {
    const bool unused = t.spm.row == 0 && t.spm.rot == 0 && t.spm.pstride == 0 && t.col == 0 && t.rows == 0 &&
                        t.cols == 0 && !t.fp32 && !t.by_col && !t.same_element && !t.same_step;
    return unused ? ErrorCode::NONE : ErrorCode::ILLEGAL_FIELD;
  }
  const bool result = t.slot >= kOperandSlots;
  if (t.slot >= kSlots || (result && t.same_element)) return ErrorCode::ILLEGAL_FIELD;
  const std::uint32_t cols = t.col + t.cols;
  if (t.rows == 0 || t.cols == 0 || t.col >= limits.lanes || cols > 65535) return ErrorCode::ILLEGAL_FIELD;
  const Extent e{t.spm, t.rows, cols, t.fp32};
  if (!e.legal(limits)) return ErrorCode::ILLEGAL_FIELD;
  return e.inside_spm(limits) ? ErrorCode::NONE : ErrorCode::SPM_RANGE;
}

ErrorCode check_op(const TileCommand &t, const Limits &limits) {
  ErrorCode worst = ErrorCode::NONE; // of several tiles, ILLEGAL_FIELD comes first
  for (const VectorTile &tile : t.tiles) {
    const ErrorCode error = check_vector_tile(tile, limits);
    if (error == ErrorCode::ILLEGAL_FIELD) return error;
    if (error != ErrorCode::NONE) worst = error;
  }
  return worst;
}

ErrorCode check_op(const VectorCommand &v, const Limits &) {
  const bool legal = v.first < kProgramWords && v.elements != 0 && v.steps != 0;
  return legal ? ErrorCode::NONE : ErrorCode::ILLEGAL_FIELD;
}

ErrorCode check_op(const SyncCommand &, const Limits &) { return ErrorCode::NONE; }

} // namespace

ErrorCode check_command(const Command &c, const Limits &limits) {
  const std::optional<Decoded> d = decode(c);
  const auto op = static_cast<Opcode>(c.get(field::OPCODE));
  const bool for_unit = op == Opcode::PROGRAM || op == Opcode::TILE || op == Opcode::VECTOR;
  if (!d || (for_unit && limits.vectors == 0)) return ErrorCode::ILLEGAL_OPCODE;
  if (!reserved_bits_zero(c, op) || !engine_fits(c, op, limits) || !sync_legal(d->sync, limits))
    return ErrorCode::ILLEGAL_FIELD;
  return std::visit([&](const auto &o) { return check_op(o, limits); }, d->op);
}

} // namespace gradweave::isa
