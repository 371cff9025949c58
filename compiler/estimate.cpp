#include "compiler/estimate.hpp"
#include "compiler/cost.hpp"
#include "compiler/layout.hpp"
#include "compiler/tiling.hpp"

#include <algorithm>
#include <vector>

namespace gradweave::compiler {
namespace {

/// Sum of f(tile side) over the tiles that cut `extent`.
template <typename F> double sum_tiles(std::uint32_t extent, std::uint32_t side, F f) {
  const std::uint32_t whole = extent / side, rest = extent % side;
  return static_cast<double>(whole) * static_cast<double>(f(side)) + (rest ? static_cast<double>(f(rest)) : 0.0);
}

double gemm_cycles(std::uint32_t rows, std::uint32_t row_side, std::uint32_t cols, std::uint32_t col_side,
                   std::uint32_t red, std::uint32_t red_side, const NpuConfig &npu) {
  return sum_tiles(rows, row_side, [&](auto s) { return divide_up(s, npu.rows); }) *
         sum_tiles(cols, col_side, [&](auto s) { return divide_up(s, npu.cols); }) *
         sum_tiles(red, red_side, [&](auto s) { return std::max(s, shortest_block(npu)); });
}

/// A tensor in a loop nest: what it costs to move it once, and what it saves to keep it.
struct Stream {
  double rows = 0;      ///< scratchpad rows of a tile
  double kept_rows = 0; ///< rows to keep for full reuse, beyond the tile at work
  double bytes = 0;     ///< moved in any case
  double again = 0;     ///< moved on top if nothing is kept
  double *area = nullptr;
  bool partial = false;
};

class Nest {
public:
  Nest(const LoopOrder &loops, const TileShape &tile, const Layer &layer, const NpuConfig &npu)
      : loops_(loops), side_{tile.m, tile.k, tile.n}, extent_{layer.m, layer.k, layer.n}, npu_(npu) {}

  /// A tensor whose rows and columns run along two of the loops.
  Stream stream(Dim row_dim, Dim col_dim, bool partial, double *area) const {
    const auto r = static_cast<std::size_t>(row_dim);
    const auto c = static_cast<std::size_t>(col_dim);
    const std::size_t missing = 3 - r - c;
    Stream s;
    s.area = area;
    s.partial = partial;
    s.rows = spm_rows(side_[r], side_[c], partial, npu_.lanes());
    const double width = partial ? 4 : 2;
    const double row_bytes =
        static_cast<double>(round_up(static_cast<std::uint64_t>(side_[c] * width), access_bytes(npu_))) *
        static_cast<double>(divide_up(extent_[c], side_[c]));
    const double bytes = row_bytes * extent_[r];
    s.bytes = bytes;
    std::size_t depth = 0;
    while (static_cast<std::size_t>(loops_[depth]) != missing)
      ++depth;
    if (depth == 2) return s;
    double tiles = 1;
    for (std::size_t d = depth + 1; d < 3; ++d)
      tiles *= trips(static_cast<std::size_t>(loops_[d]));
    s.kept_rows = (tiles - 1) * s.rows;
    s.again = bytes * (trips(missing) - 1) * (partial ? 2 : 1);
    return s;
  }

private:
  double trips(std::size_t dim) const { return static_cast<double>(divide_up(extent_[dim], side_[dim])); }

  const LoopOrder loops_;
  std::array<std::uint32_t, 3> side_, extent_;
  const NpuConfig &npu_;
};

/// Whether the dX and dW products of an interleaved phase use the same dY tile at the same time.
bool same_dy_walk(const LoopOrder &dw_loops, const TileShape &tile, const Layer &layer) {
  const bool one_m = tile.m == layer.m, one_k = tile.k == layer.k, one_n = tile.n == layer.n;
  return (one_k && one_n) || (one_m && (dw_loops[0] == Dim::kK || one_k || one_n));
}

} // namespace

std::uint64_t phase_cycles(PhaseKind kind, const TileShape &t, const Layer &l, const NpuConfig &npu) {
  double cycles = 0;
  if (kind == PhaseKind::kForward)
    cycles = gemm_cycles(l.m, t.m, l.n, t.n, l.k, t.k, npu);
  else if (kind != PhaseKind::kDw)
    cycles = gemm_cycles(l.m, t.m, l.k, t.k, l.n, t.n, npu);
  if (kind != PhaseKind::kForward && kind != PhaseKind::kDx) cycles += gemm_cycles(l.k, t.k, l.n, t.n, l.m, t.m, npu);
  return static_cast<std::uint64_t>(cycles) * l.groups;
}

RoughEstimate rough_estimate(PhaseKind kind, const LoopOrder &loops, const TileShape &tile, const Layer &layer,
                             const NpuConfig &npu) {
  RoughEstimate e;
  std::vector<Stream> streams;
  const Nest nest(loops, tile, layer, npu); // of a group; groups follow one another
  const bool fused = kind == PhaseKind::kDxMajor || kind == PhaseKind::kDwMajor;
  const auto add_dx = [&](const Nest &n) {
    streams.push_back(n.stream(Dim::kM, Dim::kN, false, &e.shared_rows));
    streams.push_back(n.stream(Dim::kK, Dim::kN, false, &e.other_rows));
    streams.push_back(n.stream(Dim::kM, Dim::kK, true, &e.result_rows));
    streams.back().bytes /= 2; // leaves as bf16
  };
  const auto add_dw = [&](const Nest &n) {
    if (!fused) // else dY is counted with dX
      streams.push_back(n.stream(Dim::kM, Dim::kN, false, &e.shared_rows));
    streams.push_back(n.stream(Dim::kM, Dim::kK, false, &e.other_rows));
    streams.push_back(n.stream(Dim::kK, Dim::kN, true, &e.result_rows));
  };
  switch (kind) {
  case PhaseKind::kForward:
    streams.push_back(nest.stream(Dim::kM, Dim::kK, false, &e.shared_rows));
    streams.push_back(nest.stream(Dim::kK, Dim::kN, false, &e.other_rows));
    streams.push_back(nest.stream(Dim::kM, Dim::kN, true, &e.result_rows));
    streams.back().bytes /= 2;
    break;
  case PhaseKind::kDx:
    add_dx(nest);
    break;
  case PhaseKind::kDw:
    add_dw(nest);
    break;
  case PhaseKind::kInterleave:
    add_dx(Nest({Dim::kM, Dim::kK, Dim::kN}, tile, layer, npu));
    add_dw(nest);
    if (same_dy_walk(loops, tile, layer)) {
      streams.erase(streams.begin() + 3);
    } else { // dX's dY tiles serve dW if all of dY stays
      Stream &dy = streams[3];
      dy.again += dy.bytes;
      dy.bytes = 0;
      dy.kept_rows = dy.rows * static_cast<double>(divide_up(layer.m, tile.m) * divide_up(layer.n, tile.n));
    }
    break;
  default:
    add_dx(nest);
    add_dw(nest);
  }

  // First come the tiles at work, then a second one of each operand, so that loads overlap computing, then reuse.
  double capacity = npu.spm_rows();
  double once = 0, bytes = 0, ahead = 0;
  for (const Stream &s : streams) {
    *s.area += 2 * s.rows;
    capacity -= s.rows;
    ahead += s.partial ? s.rows / 2 : s.rows; // sums stay, their bf16 results do not
    once += s.bytes;
    bytes += s.bytes + s.again;
  }
  const double overlap = std::clamp(capacity / ahead, 0.0, 1.0);
  capacity -= ahead;
  // Keep what saves most per row; a part of a tensor saves its part.
  std::sort(streams.begin(), streams.end(),
            [](const Stream &x, const Stream &y) { return x.again * y.kept_rows > y.again * x.kept_rows; });
  for (const Stream &s : streams) {
    if (s.again <= 0 || capacity <= 0) continue;
    const double share = s.kept_rows <= capacity ? 1 : capacity / s.kept_rows;
    bytes -= share * s.again;
    capacity -= share * s.kept_rows;
    *s.area += share * s.kept_rows;
  }
  once *= layer.groups;
  bytes *= layer.groups;
  const double cycles_per_byte = static_cast<double>(npu.dram.bytes_den) / static_cast<double>(npu.dram.bytes_num);
  const auto compute = static_cast<double>(phase_cycles(kind, tile, layer, npu));
  const auto products = static_cast<double>(product_count(kind, tile, layer));
  const double commands = products * 3 * isa::kCommandBytes; // GEMM and about two moves
  e.bound = std::max(compute, once * cycles_per_byte);
  // Before the first product its operands must come, after the last its result must leave.
  const double ends = (bytes + commands) * cycles_per_byte / products;
  // Half of what cannot overlap counts: residency often finds room that this closed form does not see.
  const double moving = (bytes + commands) * cycles_per_byte;
  e.cycles = std::max(compute, moving) + 0.5 * (1 - overlap) * std::min(compute, moving) + ends;
  return e;
}

} // namespace gradweave::compiler
