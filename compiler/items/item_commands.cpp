#include "compiler/items/item_commands.hpp"

#include "compiler/items/ordered_commands.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Whether the rows of an item follow those of the item before it.
bool is_beside(const ItemJobs &jobs, const std::vector<ItemPlace> &places, std::size_t tile, std::size_t item) {
  const std::uint64_t apart = std::uint64_t{jobs.tiles[tile].cols} * (jobs.tiles[tile].fp32 ? 4 : 2);
  return places[tile].addresses[item] == places[tile].addresses[item - 1] + apart;
}

class Emitter {
public:
  Emitter(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut, const NpuConfig &npu)
      : jobs_(jobs), places_(places), cut_(cut), npu_(npu), chunks_(chunks_of(jobs, cut)), turns_(turns_of(jobs, cut)),
        commands_(number_regions()) {
    auto rows = place_items(jobs, cut, npu);
    if (!rows) throw std::logic_error("a chunk of items does not fit the scratchpad");
    rows_ = std::move(*rows);
    for (std::size_t i = 0; i < jobs.tiles.size(); ++i)
      held_.emplace_back(cut.buffers[i]);
    overwritten_.resize(jobs.tiles.size());
    for (const ItemTile &tile : jobs.tiles)
      if (tile.over != kOwnPlace) overwritten_[place_of_tile(jobs.tiles, tile.over)] = true;
    for (std::size_t i = 0; i < jobs.tiles.size(); ++i)
      first_reader_.push_back(reader_of(i));
  }

  std::vector<isa::Command> run(std::uint32_t first_semaphore) {
    add_programs();
    for (std::size_t at = 0; at < chunks_.size() + turns_.last; ++at)
      for (std::uint32_t turn = turns_.last + 1; turn-- > 0;)
        if (at >= turn && at - turn < chunks_.size()) emit_turn(at - turn, turn);
    return commands_.encoded(first_semaphore);
  }

private:
  /// Each item's part of each buffer is one.
  std::size_t number_regions() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < jobs_.tiles.size(); ++i) {
      regions_.push_back(next);
      next += std::size_t{cut_.buffers[i]} * cut_.chunk;
    }
    return next;
  }

  /// The stage that reads the tile first.
  std::size_t reader_of(std::size_t tile) const {
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s) {
      if (const auto *product = std::get_if<ItemProduct>(&jobs_.stages[s])) {
        if (product->a == tile || product->b == tile) return s;
        continue;
      }
      const auto &operands = std::get<ItemRun>(jobs_.stages[s]).operands;
      if (std::any_of(operands.begin(), operands.end(), [&](const ItemView &v) { return v.tile == tile; })) return s;
    }
    return jobs_.stages.size();
  }

  void add_programs() {
    std::vector<isa::vector::Words> of_stages; // none of products
    for (const ItemStage &stage : jobs_.stages) {
      const auto *run = std::get_if<ItemRun>(&stage);
      of_stages.push_back(run == nullptr ? isa::vector::Words() : isa::vector::encode(run->program));
    }
    WrittenPrograms written = write_programs(of_stages);
    for (const isa::ProgramCommand &p : written.commands)
      commands_.add(p);
    program_at_ = std::move(written.first_words);
  }

  /// LOADs of what phases of this turn, or of the next, begin to read; stages, and STOREs of what they give.
  void emit_turn(std::size_t chunk, std::uint32_t turn) {
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s) {
      for (std::size_t tile = 0; tile < jobs_.tiles.size(); ++tile)
        if (jobs_.tiles[tile].loaded && first_reader_[tile] == s && turns_.loads[tile] == turn) load(tile, chunk);
      if (turns_.stages[s] != turn) continue;
      if (const auto *product = std::get_if<ItemProduct>(&jobs_.stages[s])) {
        multiply(*product, chunk);
        store(product->c, chunk);
      } else {
        const auto &run = std::get<ItemRun>(jobs_.stages[s]);
        compute(run, program_at_[s], chunk);
        for (const ItemView &result : run.results)
          store(result.tile, chunk);
      }
    }
  }

  std::size_t place_of(std::size_t tile) const { return place_of_tile(jobs_.tiles, tile); }

  std::size_t buffer_of(std::size_t tile, std::size_t chunk) const { return chunk % cut_.buffers[place_of(tile)]; }

  /// Which of those below or beside each other in a chunk's tile an item has.
  std::size_t place_in_chunk(std::size_t tile, std::size_t chunk, std::size_t item) const {
    const ItemTile &t = jobs_.tiles[tile];
    return t.each ? item : copy_of(t, chunks_[chunk], item);
  }

  RegionRange region(std::size_t tile, std::size_t chunk, std::size_t item, std::size_t count = 1) const {
    const std::size_t first = place_in_chunk(tile, chunk, item);
    return {regions_[place_of(tile)] + buffer_of(tile, chunk) * cut_.chunk + first,
            place_in_chunk(tile, chunk, item + count - 1) - first + 1};
  }

  /// From an item's element (row, col) on.
  isa::SpmTile spm(std::size_t tile, std::size_t chunk, std::size_t item, std::uint32_t row = 0,
                   std::uint32_t col = 0) const {
    const ItemTile &t = jobs_.tiles[tile];
    const auto before = static_cast<std::uint32_t>(place_in_chunk(tile, chunk, item));
    std::uint32_t first = rows_[place_of(tile)][buffer_of(tile, chunk)];
    if (!t.each)
      first += before * rows_of(jobs_, tile, cut_, npu_);
    else if (t.line)
      col += before * t.rows;
    else
      (cut_.wide[tile] ? col : row) += before * (cut_.wide[tile] ? t.cols : t.rows);
    isa::SpmTile place;
    place.pstride = panel_rows(jobs_, tile, cut_);
    place.row = first + row * (t.fp32 ? 2 : 1) + col / npu_.lanes() * place.pstride;
    place.rot = static_cast<isa::Lane>((row + col) % npu_.lanes());
    return place;
  }

  /// Columns that are moved together, of an item and of those beside it.
  struct Piece {
    std::size_t item = 0;
    std::uint32_t col = 0, cols = 0; ///< from the item's column `col` on
  };

  std::vector<Piece> pieces_of(std::size_t tile, std::size_t chunk) const {
    const ItemTile &t = jobs_.tiles[tile];
    const std::size_t count = chunks_[chunk].count;
    std::vector<Piece> pieces;
    for (std::size_t item = 0; item < count;) {
      std::size_t end = item + 1;
      if (!t.each)
        while (end < count && place_in_chunk(tile, chunk, end) == place_in_chunk(tile, chunk, item))
          ++end;
      else if (cut_.wide[tile])
        while (end < count && is_beside(jobs_, places_, tile, chunks_[chunk].first + end))
          ++end;
      if (cut_.wide[tile])
        add_wide(pieces, item, end - item, t.cols);
      else
        pieces.push_back({item, 0, t.cols});
      item = end;
    }
    return pieces;
  }

  /// A transfer may begin inside of a panel only if it ends there.
  void add_wide(std::vector<Piece> &pieces, std::size_t first, std::size_t count, std::uint32_t cols) const {
    const auto begin = static_cast<std::uint32_t>(first) * cols, end = begin + static_cast<std::uint32_t>(count) * cols;
    for (std::uint32_t at = begin; at < end;) {
      const std::uint32_t inside = at % npu_.lanes();
      const std::uint32_t next = inside == 0 ? end : std::min(end, at + npu_.lanes() - inside);
      pieces.push_back({at / cols, at % cols, next - at});
      at = next;
    }
  }

  /// Scratchpad rows of items that lie side by side are common to all that there may be.
  RegionRange common_region(std::size_t tile, std::size_t chunk, std::size_t item) const {
    return cut_.wide[tile] ? RegionRange{region(tile, chunk, 0).first, cut_.chunk} : region(tile, chunk, item);
  }

  isa::DmaCommand transfer(std::size_t tile, std::size_t chunk, const Piece &piece, bool store) const {
    const ItemTile &t = jobs_.tiles[tile];
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.fp32;
    d.dram_addr =
        places_[tile].addresses[chunks_[chunk].first + piece.item] + std::uint64_t{piece.col} * (t.fp32 ? 4 : 2);
    d.pitch = t.rows == 1 ? 0 : places_[tile].pitch;
    d.rows = t.rows;
    d.cols = piece.cols;
    d.spm = spm(tile, chunk, piece.item, 0, piece.col);
    return d;
  }

  void load(std::size_t tile, std::size_t chunk) {
    std::vector<std::uint64_t> &held = held_[tile][buffer_of(tile, chunk)];
    held.resize(cut_.chunk, ~std::uint64_t{0});
    for (const Piece &piece : pieces_of(tile, chunk)) {
      const isa::DmaCommand d = transfer(tile, chunk, piece, false);
      std::uint64_t &has = held[place_in_chunk(tile, chunk, piece.item)];
      if (has != d.dram_addr || overwritten_[tile] || cut_.wide[tile])
        commands_.add(d, {}, {common_region(tile, chunk, piece.item)});
      has = d.dram_addr;
    }
  }

  void store(std::size_t tile, std::size_t chunk) {
    if (!jobs_.tiles[tile].stored) return;
    for (const Piece &piece : pieces_of(tile, chunk))
      commands_.add(transfer(tile, chunk, piece, true), {common_region(tile, chunk, piece.item)});
  }

  /// Where each item has sums of its own, the first parts of all items come first, so that what a part goes on with is
  /// written by then.
  void multiply(const ItemProduct &product, std::size_t chunk) {
    std::vector<std::vector<ProductPart>> sums;
    std::size_t rounds = 1;
    for (std::size_t item = 0; item < chunks_[chunk].count; ++item) {
      sums.push_back(sum_parts(jobs_, product, item, cut_, npu_));
      if (product.sums == product.c) rounds = std::max(rounds, sums.back().size());
    }
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t item = 0; item < sums.size(); ++item)
        for (std::size_t part = 0; part < sums[item].size(); ++part)
          if (part == round || rounds == 1)
            multiply_part(product, chunk, item, sums[item][part], part + 1 == sums[item].size());
  }

  void multiply_part(const ItemProduct &product, std::size_t chunk, std::size_t item, const ProductPart &sum,
                     bool last) {
    const std::size_t to = last ? product.c : product.sums;
    isa::GemmCommand gemm;
    gemm.a_col = product.a_col;
    gemm.b_col = product.b_col;
    gemm.acc = sum.first > 0;
    gemm.out_bf16 = !jobs_.tiles[to].fp32;
    gemm.m = product.m, gemm.k = sum.count;
    gemm.a = product.a_col ? spm(product.a, chunk, item, 0, sum.first) : spm(product.a, chunk, item, sum.first);
    std::vector<RegionRange> reads{common_region(product.a, chunk, item), common_region(product.b, chunk, item)};
    if (gemm.acc) reads.push_back(common_region(product.sums, chunk, item));
    for (const ProductPart &part : column_parts(jobs_, product, item, cut_, npu_)) {
      gemm.n = part.count;
      gemm.b = product.b_col ? spm(product.b, chunk, item, part.first, sum.first)
                             : spm(product.b, chunk, item, sum.first, part.first);
      gemm.cout = spm(to, chunk, item, 0, part.first);
      if (gemm.acc) gemm.cin = spm(product.sums, chunk, item, 0, part.first);
      commands_.add(gemm, reads, {region(to, chunk, item)});
    }
  }

  /// A run for all items of a chunk that have the same elements in the shared tiles that it reads.
  void compute(const ItemRun &run, std::uint32_t program, std::size_t chunk) {
    const auto alike = [&](std::size_t a, std::size_t b) {
      return std::all_of(run.operands.begin(), run.operands.end(), [&](const ItemView &view) {
        return jobs_.tiles[view.tile].each ||
               place_in_chunk(view.tile, chunk, a) == place_in_chunk(view.tile, chunk, b);
      });
    };
    for (std::size_t first = 0; first < chunks_[chunk].count;) {
      std::size_t end = first + 1;
      while (end < chunks_[chunk].count && alike(first, end))
        ++end;
      compute_items(run, program, chunk, first, end - first);
      first = end;
    }
  }

  void compute_items(const ItemRun &run, std::uint32_t program, std::size_t chunk, std::size_t item,
                     std::size_t items) {
    const auto count = static_cast<std::uint32_t>(items);
    std::vector<isa::VectorTile> slots;
    std::vector<RegionRange> reads, writes;
    const auto add = [&](const ItemView &view, std::size_t slot) {
      const ItemTile &t = jobs_.tiles[view.tile];
      isa::VectorTile v;
      v.slot = static_cast<std::uint32_t>(slot);
      v.spm = spm(view.tile, chunk, item);
      v.rows = t.line ? 1 : t.rows * (t.each ? count : 1);
      v.cols = t.line ? t.rows * count : t.cols;
      v.fp32 = t.fp32;
      v.by_col = view.by_col;
      v.same_element = view.same_element;
      v.same_step = view.same_step;
      if (t.line) {
        v.col = v.spm.rot;
        v.spm.rot = 0;
      }
      slots.push_back(v);
    };
    for (std::size_t i = 0; i < run.operands.size(); ++i) {
      add(run.operands[i], i);
      reads.push_back(region(run.operands[i].tile, chunk, item, items));
    }
    for (std::size_t i = 0; i < run.results.size(); ++i) {
      add(run.results[i], isa::kOperandSlots + i);
      writes.push_back(region(run.results[i].tile, chunk, item, items));
    }
    for (const isa::TileCommand &tiles : tile_commands(slots))
      commands_.add(tiles);
    isa::VectorCommand v;
    v.first = program;
    v.elements = run.lanes * count;
    v.steps = run.steps;
    commands_.add(v, reads, writes);
  }

  const ItemJobs &jobs_;
  const std::vector<ItemPlace> &places_;
  const ItemCut &cut_;
  const NpuConfig &npu_;
  std::vector<ItemChunk> chunks_;
  ItemTurns turns_;
  std::vector<std::size_t> regions_; ///< of each tile, the first
  OrderedCommands commands_;
  std::vector<std::vector<std::uint32_t>> rows_;              ///< of each tile's buffers
  std::vector<std::vector<std::vector<std::uint64_t>>> held_; ///< of each tile's buffers, addresses of what it has
  std::vector<bool> overwritten_;                             ///< of each tile: others are written in its place
  std::vector<std::size_t> first_reader_;                     ///< of each tile
  std::vector<std::uint32_t> program_at_;                     ///< of each stage
};

} // namespace

bool lie_side_by_side(const ItemJobs &jobs, const std::vector<ItemPlace> &places, std::size_t tile) {
  for (std::size_t item = 1; item < jobs.items; ++item)
    if (is_beside(jobs, places, tile, item)) return true;
  return false;
}

std::vector<isa::Command> item_commands(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut,
                                        const NpuConfig &npu, std::uint32_t first_semaphore) {
  return Emitter(jobs, places, cut, npu).run(first_semaphore);
}

} // namespace gradweave::compiler
