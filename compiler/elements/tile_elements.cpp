#include "compiler/elements/tile_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace gradweave::compiler {
namespace {

using Repeat = ElementEdge::Repeat;

/// From whom to whom a token goes.
enum Semaphore : std::uint8_t { kLoaded, kRead, kComputed, kStored, kRepeated };

constexpr std::uint32_t kMostSteps = 65535;
constexpr std::uint32_t kLeastTiles = 32; // if there are so many rows

std::uint32_t height_of(const ElementEdge &e) { return e.fp32 ? 2 : 1; }
std::uint32_t bytes_of(const ElementEdge &e) { return e.fp32 ? 4 : 2; }

/// A rectangle of the tensors, as rows and columns of elements.
struct Area {
  std::uint64_t first = 0; ///< element
  std::uint32_t col = 0, rows = 0, cols = 0;
};

class Tiling {
public:
  Tiling(const ElementProgram &work, const ElementAddresses &addresses, const NpuConfig &npu)
      : work_(work), addresses_(addresses), npu_(npu), elements_(std::uint64_t{work.rows} * work.cols) {
    for (std::uint32_t slot = 0; slot < work.operands.size(); ++slot)
      edges_.push_back({work.operands[slot], slot});
    for (std::uint32_t o = 0; o < work.results.size(); ++o)
      edges_.push_back({work.results[o], isa::kOperandSlots + o});
  }

  std::vector<isa::Command> run() {
    if (npu_.vectors() == 0)
      throw ElementProgramError(fmt::format("NPU '{}' has no vector unit; give it one by vector_groups", npu_.name));
    choose_shape();
    choose_tiles();
    emit_program();
    emit_repeated();
    const std::vector<Area> areas = cut();
    for (std::size_t n = 0; n < areas.size(); ++n)
      emit_area(areas[n], n, areas.size());
    return std::move(out_);
  }

private:
  struct Edge {
    ElementEdge edge;
    std::uint32_t slot;
    std::uint32_t row = 0, pstride = 0; ///< in the scratchpad, of the first place
    bool is_result() const { return slot >= isa::kOperandSlots; }
    bool repeated() const { return edge.repeat != Repeat::kNone; }
  };

  std::uint32_t panels(std::uint32_t cols) const { return (cols + npu_.lanes() - 1) / npu_.lanes(); }
  std::uint32_t repeated_cols(const Edge &e) const { return e.edge.repeat == Repeat::kRow ? cols_ : 1; }

  /// Rows as wide as a group of strips, unless rows are the tensors' own.
  void choose_shape() {
    const bool has_row =
        std::any_of(edges_.begin(), edges_.end(), [](const Edge &e) { return e.edge.repeat == Repeat::kRow; });
    const std::uint64_t group = std::uint64_t{4} * npu_.vector_groups * npu_.lanes();
    cols_ = has_row ? work_.cols : static_cast<std::uint32_t>(std::min(group, elements_));
  }

  /// Places the tiles from a row on; returns the row behind them.
  std::uint32_t place(std::uint32_t next, std::uint32_t rows, std::uint32_t cols) {
    for (Edge &e : edges_) {
      if (e.repeated()) continue;
      next += next % 2;
      e.row = next;
      e.pstride = rows * height_of(e.edge);
      next += e.pstride * panels(cols);
    }
    return next + next % 2;
  }

  /// What is repeated lies first, then the tiles of both places: as many rows as fit, but some tiles at least if there
  /// are so many rows, as the first LOAD and the last STORE run beside nothing.
  void choose_tiles() {
    std::uint32_t first = 0;
    for (Edge &e : edges_) {
      if (!e.repeated()) continue;
      e.row = first;
      e.pstride = 2;
      first += 2 * panels(repeated_cols(e));
    }
    const auto fits = [&](std::uint32_t rows, std::uint32_t cols) {
      return first + 2 * std::uint64_t{place(first, rows, cols) - first} <= npu_.spm_rows();
    };
    tile_cols_ = cols_;
    while (tile_cols_ > npu_.lanes() && !fits(1, tile_cols_))
      tile_cols_ = (panels(tile_cols_) - 1) * npu_.lanes();
    if (!fits(1, tile_cols_))
      throw ElementProgramError(fmt::format("a line of each of {} tensors does not fit twice into the scratchpad's {} "
                                            "rows; leave an op out",
                                            edges_.size(), npu_.spm_rows()));
    const std::uint64_t all_rows = (elements_ + cols_ - 1) / cols_;
    const auto most =
        static_cast<std::uint32_t>(std::min<std::uint64_t>((all_rows + kLeastTiles - 1) / kLeastTiles, kMostSteps));
    tile_rows_ = 1;
    while (tile_rows_ < most && fits(tile_rows_ + 1, tile_cols_))
      ++tile_rows_;
    place_rows_ = place(first, tile_rows_, tile_cols_) - first;
  }

  std::vector<Area> cut() const {
    std::vector<Area> areas;
    const auto all_rows = static_cast<std::uint32_t>(elements_ / cols_);
    for (std::uint32_t col = 0; col < cols_; col += tile_cols_)
      for (std::uint32_t row = 0; row < all_rows; row += tile_rows_)
        areas.push_back({std::uint64_t{row} * cols_ + col, col, std::min(tile_rows_, all_rows - row),
                         std::min(tile_cols_, cols_ - col)});
    // Of a whole row of elements; there is none if rows are the tensors' own.
    const std::uint64_t done = std::uint64_t{all_rows} * cols_;
    for (std::uint64_t at = done; at < elements_; at += tile_cols_)
      areas.push_back({at, 0, 1, static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_cols_, elements_ - at))});
    return areas;
  }

  template <typename Op> void emit(const Op &op, const isa::Sync &sync = {}) {
    out_.push_back(isa::encode({op, sync, 0}));
  }

  void emit_program() {
    const isa::vector::Words words = isa::vector::encode(work_.program);
    for (std::uint32_t at = 0; at < words.size();) {
      isa::ProgramCommand p;
      p.at = at;
      p.count = std::min<std::uint32_t>(static_cast<std::uint32_t>(words.size()) - at,
                                        static_cast<std::uint32_t>(p.words.size()));
      std::copy_n(words.begin() + at, p.count, p.words.begin());
      emit(p);
      at += p.count;
    }
  }

  isa::DmaCommand transfer(const Edge &e, std::uint64_t element) const {
    isa::DmaCommand d;
    d.store = e.is_result();
    d.fp32 = e.edge.fp32;
    d.dram_addr = addresses_.at(e.edge.tensor) + element * bytes_of(e.edge);
    d.pitch = cols_ * bytes_of(e.edge);
    return d;
  }

  void emit_repeated() {
    const auto last = std::find_if(edges_.rbegin(), edges_.rend(), [](const Edge &e) { return e.repeated(); });
    for (const Edge &e : edges_) {
      if (!e.repeated()) continue;
      isa::DmaCommand d = transfer(e, 0);
      d.rows = 1;
      d.cols = repeated_cols(e);
      d.spm = {e.row, e.pstride, 0};
      isa::Sync sync;
      if (&e == &*last) sync.posts[0] = kRepeated;
      repeats_ = true;
      emit(d, sync);
    }
  }

  /// LOADs of the operands, or STOREs of the results. The first waits for `before`, the last posts `behind`, if they
  /// are given.
  void emit_transfers(bool results, const Area &area, std::size_t n, std::optional<std::uint8_t> before,
                      std::optional<std::uint8_t> behind) {
    std::vector<const Edge *> moved;
    for (const Edge &e : edges_)
      if (e.is_result() == results && !e.repeated()) moved.push_back(&e);
    for (const Edge *e : moved) {
      isa::DmaCommand d = transfer(*e, area.first);
      d.rows = area.rows;
      d.cols = area.cols;
      d.spm = {row_of(*e, n), e->pstride, 0};
      isa::Sync sync;
      if (e == moved.front() && before) sync.waits[0] = {*before, 1};
      if (e == moved.back() && behind) sync.posts[0] = *behind;
      emit(d, sync);
    }
  }

  std::uint32_t row_of(const Edge &e, std::size_t n) const {
    return e.row + (n % 2 == 1 && !e.repeated() ? place_rows_ : 0);
  }

  void emit_tiles(const Area &area, std::size_t n) {
    isa::TileCommand command;
    std::size_t next = 0;
    for (const Edge &e : edges_) {
      isa::VectorTile &t = command.tiles[next++];
      t.slot = e.slot;
      t.fp32 = e.edge.fp32;
      t.spm = {row_of(e, n), e.pstride, 0};
      t.rows = e.repeated() ? 1 : area.rows;
      t.cols = e.edge.repeat == Repeat::kScalar ? 1 : area.cols;
      t.same_step = e.repeated();
      t.same_element = e.edge.repeat == Repeat::kScalar;
      if (e.edge.repeat == Repeat::kRow) t.spm.row += area.col / npu_.lanes() * e.pstride;
      if (next < command.tiles.size() && &e != &edges_.back()) continue;
      emit(command);
      command = {};
      next = 0;
    }
  }

  void emit_area(const Area &area, std::size_t n, std::size_t count) {
    using Token = std::optional<std::uint8_t>;
    const bool follows = n >= 2, precedes = n + 2 < count; // a tile in the same place
    emit_transfers(false, area, n, follows ? Token(kRead) : Token(), Token(kLoaded));
    emit_tiles(area, n);
    isa::VectorCommand v;
    v.elements = area.cols;
    v.steps = area.rows;
    isa::Sync sync;
    sync.waits[0] = {kLoaded, 1};
    if (follows) sync.waits[1] = {kStored, 1};
    if (repeats_ && n == 0) sync.waits[2] = {kRepeated, 1};
    sync.posts[0] = kComputed;
    if (precedes) sync.posts[1] = kRead;
    emit(v, sync);
    emit_transfers(true, area, n, Token(kComputed), precedes ? Token(kStored) : Token());
  }

  const ElementProgram &work_;
  const ElementAddresses &addresses_;
  const NpuConfig &npu_;
  std::uint64_t elements_;
  std::vector<Edge> edges_;
  std::uint32_t cols_ = 0; ///< of the tensors, as they are cut
  std::uint32_t tile_rows_ = 0, tile_cols_ = 0;
  std::uint32_t place_rows_ = 0; ///< of the scratchpad, from a place to the next
  bool repeats_ = false;
  std::vector<isa::Command> out_;
};

} // namespace

std::vector<isa::Command> tile_elements(const ElementProgram &work, const ElementAddresses &addresses,
                                        const NpuConfig &npu) {
  if (std::all_of(work.operands.begin(), work.operands.end(),
                  [](const ElementEdge &e) { return e.repeat != Repeat::kNone; }))
    throw ElementProgramError("the program reads no tensor that is as large as its result");
  return Tiling(work, addresses, npu).run();
}

} // namespace gradweave::compiler
