#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gradweave::compiler {
namespace {

/// What moves need: the DRAM is shared, LOADs and STOREs have a port each.
struct Moves {
  double bytes = 0;                         ///< of the DRAM
  double load_cycles = 0, store_cycles = 0; ///< of the ports

  Moves &operator+=(const Moves &other) {
    bytes += other.bytes;
    load_cycles += other.load_cycles;
    store_cycles += other.store_cycles;
    return *this;
  }
  Moves operator*(double times) const { return {bytes * times, load_cycles * times, store_cycles * times}; }
};

/// What a tensor's elements are at work and at the end.
enum class Element { kBf16, kFp32, kFp32LeavesAsBf16 };

/// What takes part of the scratchpad.
enum Area : std::uint8_t { kShared, kOther, kResult };

/// A tensor in a loop nest: what it costs to move it once, and what it saves to keep it.
struct Stream {
  double rows = 0;      ///< scratchpad rows of a tile
  double kept_rows = 0; ///< rows to keep for full reuse, beyond the tile at work
  Moves once;           ///< in any case
  Moves again;          ///< on top, if nothing is kept
  Area area = kShared;
  bool partial = false;
};

/// A tensor whose rows and columns run along two of the loops: what is the same in whatever order these run.
struct Operand {
  Stream stream;                 ///< kept_rows and again are not known
  Moves each;                    ///< of each time that it moves again
  std::size_t missing = 0;       ///< the loop that does not run along it
  std::array<double, 3> trips{}; ///< of each loop

  Stream in(const LoopOrder &loops) const {
    Stream s = stream;
    std::size_t depth = 0;
    while (static_cast<std::size_t>(loops[depth]) != missing)
      ++depth;
    if (depth == 2) return s;
    double tiles = 1;
    for (std::size_t d = depth + 1; d < 3; ++d)
      tiles *= trips[static_cast<std::size_t>(loops[d])];
    s.kept_rows = (tiles - 1) * s.rows;
    s.again = each * (trips[missing] - 1);
    return s;
  }
};

class Nest {
public:
  Nest(Tensor result, const TileShape &tile, const Layer &layer, const Machine &npu) : npu_(npu) {
    for (const Dim dim : {Dim::kM, Dim::kK, Dim::kN}) {
      side_[static_cast<std::size_t>(dim)] = longest_range(layer, result, dim, side_of(tile, dim));
      extent_[static_cast<std::size_t>(dim)] = extent_of(layer, result, dim);
    }
  }

  /// The same for an operand that is read as an image: taps find their pixels in one tile, which has the lines around
  /// it besides.
  Nest of_image(Tensor operand, Tensor result, const Layer &layer) const {
    Nest nest = *this;
    const auto cols = static_cast<std::size_t>(form_of(operand).col);
    nest.extent_[cols] = form_of(operand).col == Dim::kK ? kernel_channels(layer) : layer.n;
    nest.side_[cols] = std::min(side_[cols], nest.extent_[cols]);
    const std::uint32_t lines = side_[0];
    const std::uint32_t read = lines_read(layer, result, rows_of(layer, result, {0, lines})).size;
    nest.halo_ = static_cast<double>(read) / lines;
    // The phases of dX's rows find dY's in one tile.
    if (splits_phases(layer, result))
      nest.extent_[0] = static_cast<std::uint32_t>(divide_up(extent_[0], phases(layer)));
    return nest;
  }

  Operand operand(Dim row_dim, Dim col_dim, Element element, Area area) const {
    const auto r = static_cast<std::size_t>(row_dim);
    const auto c = static_cast<std::size_t>(col_dim);
    Operand o;
    o.missing = 3 - r - c;
    for (std::size_t dim = 0; dim < 3; ++dim)
      o.trips[dim] = static_cast<double>(divide_up(extent_[dim], side_[dim]));
    Stream &s = o.stream;
    s.area = area;
    s.partial = element != Element::kBf16;
    s.rows = halo_ * spm_rows(side_[r], side_[c], s.partial, npu_.lanes());
    const double rows = halo_ * o.trips[c] * extent_[r]; // a burst each
    const Moves read = loads(side_[c] * (s.partial ? 4ULL : 2ULL)) * rows;
    const Moves written = stores(side_[c] * (element == Element::kFp32 ? 4ULL : 2ULL)) * rows;
    s.once = s.partial ? written : read;
    o.each = read;
    if (s.partial) o.each += stores(side_[c] * 4ULL) * rows;
    return o;
  }

private:
  static std::uint32_t phases(const Layer &layer) { return layer.conv->stride_width * layer.conv->stride_height; }
  double bytes(std::uint64_t row) const { return static_cast<double>(round_up(row, access_bytes(npu_))); }

  /// Cycles of a port for a burst: one for each beat, and as long as the bursts in flight must wait for an answer.
  double port_cycles(std::uint64_t row) const {
    return std::max(static_cast<double>(divide_up(row, npu_.bus_bytes)),
                    static_cast<double>(npu_.memory.latency_cycles) / npu_.outstanding);
  }

  Moves loads(std::uint64_t row) const { return {bytes(row), port_cycles(row), 0}; }
  Moves stores(std::uint64_t row) const { return {bytes(row), 0, port_cycles(row)}; }

  std::array<std::uint32_t, 3> side_{}, extent_{};
  double halo_ = 1; ///< rows of a tile for each of its lines
  const Machine &npu_;
};

/// Whether the dX and dW products of an interleaved phase use the same dY tile at the same time.
bool same_dy_walk(const LoopOrder &dw_loops, const TileShape &tile, const Layer &layer) {
  const TileShape largest = largest_tile(PhaseKind::kInterleave, layer);
  const bool one_m = tile.m == largest.m, one_k = tile.k == largest.k, one_n = tile.n == largest.n;
  return (one_k && one_n) || (one_m && (dw_loops[0] == Dim::kK || one_k || one_n));
}

/// Those of two products of three tensors; searches ask for too many to allocate them.
struct Streams {
  static constexpr std::size_t kMost = 6;
  std::array<Stream, kMost> streams;
  std::size_t count = 0;

  void push_back(const Stream &stream) { streams[count++] = stream; }
  Stream &back() { return streams[count - 1]; }
  const Stream *begin() const { return streams.data(); }
  const Stream *end() const { return streams.data() + count; }
};

/// All tensors that a phase moves, a group's worth, in tiles of a shape.
class Operands {
public:
  Operands(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu)
      : form_(form_of(kind)), tile_(tile), layer_(layer) {
    std::size_t product = 0;
    for (const Tensor result : form_.results) {
      const Contraction &c = contraction_of(result);
      const Nest nest(result, tile, layer, npu); // of a group
      const auto operand = [&](Tensor tensor, Element element, Area area) {
        const TensorForm &of = form_of(tensor);
        const bool image = layer.image && tensor != result && !of.groups_below;
        return (image ? nest.of_image(tensor, result, layer) : nest).operand(of.row, of.col, element, area);
      };
      products_[product++] = {
          operand(c.shared, Element::kBf16, kShared), operand(c.a == c.shared ? c.b : c.a, Element::kBf16, kOther),
          operand(c.result, rounds(layer, c.result) ? Element::kFp32LeavesAsBf16 : Element::kFp32, kResult)};
    }
  }

  Streams in(const LoopOrder &loops) const {
    Streams streams;
    // Both products of a fused phase use dY's tile at once; of an interleaved one, only if there is but one way to
    // walk.
    const bool apart = form_.first_loops && !same_dy_walk(loops, tile_, layer_);
    for (std::size_t product = 0; product < form_.results.size(); ++product) {
      const bool first = product == 0;
      const LoopOrder &own = first ? form_.first_loops.value_or(loops) : loops;
      const auto &[shared, other, result] = products_[product];
      if (first || apart) streams.push_back(shared.in(own));
      if (!first && apart) { // the first product's dY tiles serve the second if all of dY stays
        Stream &dy = streams.back();
        dy.again += dy.once;
        dy.once = {};
        dy.kept_rows = dy.rows * static_cast<double>(divide_up(layer_.m, tile_.m) * divide_up(layer_.n, tile_.n));
      }
      streams.push_back(other.in(own));
      streams.push_back(result.in(own));
    }
    return streams;
  }

private:
  const PhaseForm &form_;
  TileShape tile_;
  const Layer &layer_;
  std::array<std::array<Operand, 3>, 2> products_; ///< of each its shared and its other operand, and its result
};

/// What a phase moves, with as much kept as its scratchpad has room for.
struct Residence {
  Moves moves;
  double once = 0;    ///< bytes that are moved in any case
  double overlap = 0; ///< share of the moves that can overlap computing
};

/// The estimate gets the rows that areas would like.
Residence reside(const Streams &streams, double rows_of_core, RoughEstimate &e) {
  const std::array<double *, 3> area_rows{&e.shared_rows, &e.other_rows, &e.result_rows};
  // First come the tiles at work, then a second one of each operand, so that loads overlap computing, then reuse.
  Residence r;
  double capacity = rows_of_core, ahead = 0;            // rows
  std::array<const Stream *, Streams::kMost> by_gain{}; // streams are large
  std::size_t count = 0;
  for (const Stream &s : streams) {
    by_gain[count++] = &s;
    *area_rows[s.area] += 2 * s.rows;
    capacity -= s.rows;
    ahead += s.partial ? s.rows / 2 : s.rows; // sums stay, their bf16 results do not
    r.once += s.once.bytes;
    r.moves += s.once;
    r.moves += s.again;
  }
  r.overlap = std::clamp(capacity / ahead, 0.0, 1.0);
  capacity -= ahead;
  // Keep what saves most per row; a part of a tensor saves its part.
  std::sort(by_gain.begin(), by_gain.begin() + count, [](const Stream *x, const Stream *y) {
    return x->again.bytes * y->kept_rows > y->again.bytes * x->kept_rows;
  });
  for (std::size_t i = 0; i < count; ++i) {
    const Stream &s = *by_gain[i];
    if (s.again.bytes <= 0 || capacity <= 0) continue;
    const double share = s.kept_rows <= capacity ? 1 : capacity / s.kept_rows;
    r.moves += s.again * -share;
    capacity -= share * s.kept_rows;
    *area_rows[s.area] += share * s.kept_rows;
  }
  return r;
}

/// What is the same in all loop orders.
struct TileWork {
  double compute = 0, products = 0;
};

/// Products that wait for each other or for memory each wait for an array that fills and drains, so that of plans that
/// move the same, the one with larger tiles is faster.
double waits_of(const TileWork &work, const Machine &npu) { return work.products * shortest_block(npu); }

TileWork work_of(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu) {
  return {static_cast<double>(phase_cycles(kind, tile, layer, npu)),
          static_cast<double>(product_count(kind, tile, layer))};
}

RoughEstimate estimate(const Streams &streams, const TileWork &work, const Layer &layer, const Machine &npu,
                       std::uint32_t cores) {
  RoughEstimate e;
  const std::uint32_t rows_of_core = npu.spm_rows() / cores;
  const Residence r = reside(streams, rows_of_core, e);
  const double cycles_per_byte =
      static_cast<double>(npu.memory.bytes_den) * cores / static_cast<double>(npu.memory.bytes_num);
  const auto [compute, products] = work;
  e.bound = std::max(compute, r.once * layer.groups * cycles_per_byte);
  const double commands = products * 3 * isa::kCommandBytes; // GEMM and about two moves
  const Moves moves = r.moves * layer.groups;
  const double moving =
      std::max((moves.bytes + commands) * cycles_per_byte, std::max(moves.load_cycles, moves.store_cycles) * cores);
  // Before the first product its operands must come, after the last its result must leave.
  const double ends = moving / products;
  // Half of what cannot overlap counts: residency often finds room that this closed form does not see.
  e.cycles = std::max(compute, moving) + 0.5 * (1 - r.overlap) * std::min(compute, moving) + ends + waits_of(work, npu);
  return e;
}

/// The tiles that cores take along a dimension at a time, as one.
TileShape together(PhaseKind kind, const TileShape &tile, const Layer &layer, Dim dim, std::uint32_t cores) {
  TileShape all = tile;
  std::uint32_t &side = dim == Dim::kM ? all.m : dim == Dim::kK ? all.k : all.n;
  side = std::min<std::uint32_t>(side * cores, side_of(largest_tile(kind, layer), dim));
  return all;
}

} // namespace

double least_estimate(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu) {
  const TileWork work = work_of(kind, tile, layer, npu);
  return work.compute + waits_of(work, npu);
}

double least_estimate_together(PhaseKind kind, const TileShape &tile, const Layer &layer, const Machine &npu, Dim dim,
                               std::uint32_t cores) {
  return least_estimate(kind, together(kind, tile, layer, dim, cores), layer, npu) / cores;
}

std::vector<RoughEstimate> rough_estimates(PhaseKind kind, const std::vector<LoopOrder> &orders, const TileShape &tile,
                                           const Layer &layer, const Machine &npu, std::uint32_t cores) {
  const TileWork work = work_of(kind, tile, layer, npu);
  const Operands operands(kind, tile, layer, npu);
  std::vector<RoughEstimate> estimates;
  estimates.reserve(orders.size());
  for (const LoopOrder &loops : orders)
    estimates.push_back(estimate(operands.in(loops), work, layer, npu, cores));
  return estimates;
}

RoughEstimate rough_estimate(PhaseKind kind, const LoopOrder &loops, const TileShape &tile, const Layer &layer,
                             const Machine &npu, std::uint32_t cores) {
  return rough_estimates(kind, {loops}, tile, layer, npu, cores).front();
}

std::vector<RoughEstimate> rough_estimates_together(PhaseKind kind, const std::vector<LoopOrder> &orders,
                                                    const TileShape &tile, const Layer &layer, const Machine &npu,
                                                    Dim dim, std::uint32_t cores) {
  const TileShape all = together(kind, tile, layer, dim, cores);
  Machine shared = npu; // of which a core's part is the whole scratchpad
  shared.spm_bytes *= cores;
  std::vector<RoughEstimate> estimates = rough_estimates(kind, orders, all, layer, shared, cores);
  for (RoughEstimate &e : estimates) {
    e.cycles /= cores;
    e.bound /= cores;
  }
  return estimates;
}

RoughEstimate rough_estimate_together(PhaseKind kind, const LoopOrder &loops, const TileShape &tile, const Layer &layer,
                                      const Machine &npu, Dim dim, std::uint32_t cores) {
  return rough_estimates_together(kind, {loops}, tile, layer, npu, dim, cores).front();
}

} // namespace gradweave::compiler
